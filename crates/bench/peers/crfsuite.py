"""Trains and tags with python-crfsuite; prints one JSON object. Run by the `tagging` benchmark.

usage: crfsuite.py TRAIN TEST MODEL L2 ITERATIONS    (CRFsuite attribute files)
"""

import json
import resource
import sys
import time

import pycrfsuite


def sequences(path):
    attributes, labels = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line:
                label, *own = line.split("\t")
                labels.append(label)
                attributes.append([a.replace("\\:", ":").replace("\\\\", "\\") for a in own])
            elif labels:
                yield attributes, labels
                attributes, labels = [], []


train, test, model, l2, iterations = sys.argv[1:]
trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
for attributes, labels in sequences(train):
    trainer.append(attributes, labels)
trainer.set_params({"c1": 0.0, "c2": float(l2), "max_iterations": int(iterations), "delta": 0.0})
start = time.process_time()
trainer.train(model)
trained = time.process_time() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

tagger = pycrfsuite.Tagger()
tagger.open(model)
data = list(sequences(test))
start = time.process_time()
found = [tagger.tag(attributes) for attributes, _ in data]
tagged = time.process_time() - start
log = trainer.logparser.iterations
print(
    json.dumps(
        {
            "train_seconds": trained,
            "tag_seconds": tagged,
            "memory": memory,
            "losses": [step["loss"] for step in log],
            "labels": found,
        }
    )
)
