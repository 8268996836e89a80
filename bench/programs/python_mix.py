"""What Python programs do all day: JSON, regular expressions, dictionaries, and some numpy."""

import json
import re

import numpy as np

RECORDS = 1500
ROUNDS = 80
WORD = re.compile(r"[a-z]+(\d+)")


def make_records(seed):
    return [{"id": i, "name": f"record{i * seed}", "tags": [f"tag{i % 7}", f"tag{i % 11}"]} for i in range(RECORDS)]


def round_of(seed):
    records = json.loads(json.dumps(make_records(seed)))
    by_tag = {}
    for record in records:
        for tag in record["tags"]:
            by_tag.setdefault(tag, []).append(record["id"])
    text = " ".join(record["name"] for record in records)
    longest = max(len(match.group()) for match in WORD.finditer(text * 4))
    numbers = [int(WORD.match(record["name"]).group(1)) for record in records]
    matrix = np.asarray(numbers, dtype=float).reshape(-1, 10)
    centred = matrix - matrix.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(np.cov(np.tile(centred, (1, 12)).T))
    return len(by_tag) + longest + float(eigenvalues.max()) + float(np.abs(centred.T @ centred).sum())


def main():
    print(f"{sum(round_of(seed) for seed in range(1, ROUNDS + 1)):.6e}")


if __name__ == "__main__":
    main()
