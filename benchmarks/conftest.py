"""One thread for everybody; set before any library starts its own."""

from run import use_threads

use_threads(1)
