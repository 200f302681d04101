// Releasing the GIL around kernels.
#pragma once
#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace hyperhop::bindings {

// Like pybind11's gil_scoped_release, but safe in a daemon thread while the interpreter exits.
// CPython before 3.14 then ends the thread with pthread_exit, which unwinds through destructors
// that may not throw and aborts the process; here, as in 3.14, the thread waits for the process to
// end.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() {
    try {
      PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
      for (;;) pause();
    }
  }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace hyperhop::bindings
