"""Trains or tags with python-crfsuite; prints one JSON object. Run by the `tagging` and `references` benchmarks.

usage: crfsuite.py train TRAIN MODEL L2 [ITERATIONS]    (CRFsuite attribute files)
       crfsuite.py tag MODEL TEST REPEATS
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


def train(path, model, l2, iterations=None):
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    # One sequence at a time: the text is gone when training begins.
    for attributes, labels in sequences(path):
        trainer.append(attributes, labels)
    trainer.set_params({"c1": 0.0, "c2": float(l2)})
    if iterations is not None:
        trainer.set_params({"max_iterations": int(iterations)})
    start, processor = time.perf_counter(), time.process_time()
    trainer.train(model)
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - processor,
        "losses": [step["loss"] for step in trainer.logparser.iterations],
    }


def tag(model, path, repeats):
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    data = [attributes for attributes, _ in sequences(path)]
    least = float("inf")
    for _ in range(int(repeats)):
        start = time.process_time()
        found = [tagger.tag(attributes) for attributes in data]
        least = min(least, time.process_time() - start)
    return {"seconds": least, "labels": found}


answer = {"train": train, "tag": tag}[sys.argv[1]](*sys.argv[2:])
answer["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps(answer))
