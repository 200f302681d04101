"""What makes two names one: the key they are compared by. Names are never altered."""

from hyperhop.graph.names import fold

# Forms of the same mark that fonts and keyboards differ in.
_PLAIN = str.maketrans(
    dict.fromkeys("‘’‚‛′ʼ", "'") | dict.fromkeys("“”„‟", '"') | dict.fromkeys("‐‒–—―−", "-")
)


def name_key(name: str) -> str:
    """The key of an entity's or a relation's name: equal keys mean one entity, or one relation.

    NFKC, case folded, "_" and runs of white space as one space (`graph.names.fold`), then quotes
    and dashes of every form as ', " and -. Nothing is dropped: "C" and "C++", "-5" and "5", "Ann"
    and "Ann." stay apart, "US" and "us" do not.
    """
    return fold(name).translate(_PLAIN)
