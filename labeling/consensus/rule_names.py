"""The rules by which verdicts become labels, in a line each; `labeling/consensus/rules.py` computes them."""

RULES_IN_WORDS = {
    "majority": "the label most people gave; a tie has none",
    "unanimous": "a label only where everybody agrees",
    "weighted": "votes weigh by their owner's answers to gold questions",
    "dawid-skene": "votes weigh by how good people prove to be over all pairs, gold answers held fixed",
}
RULE_NAMES = tuple(RULES_IN_WORDS)
