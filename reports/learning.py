"""Makes the tables of learning.md: two small networks learned on half a log, and how they do elsewhere.

One learns in Gymnasium's environment, by scikit-learn: it begins by imitating shortest first, then repeats what it did
in the best of the episodes that it played (the cross-entropy method on actions). The other is drawn again and again
around the best of its kind, and judged by whole stretches under EASY (the cross-entropy method on weights).
"""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from harness import Scheduler, Workload, leaderboard, prepare, read_workload, simulate, tournament
from harness.cli import main
from harness.present.tables import known_format, render
from harness.present.words import readable

TRAINED_ON = "SDSC-SP2"
OTHERS = ("KTH-SP2", "CTC-SP2", "HPC2N", "SDSC-DS", "SDSC-BLUE", "LANL-CM5")
CRITERION = "mean_bounded_slowdown"
RIVALS = ("fcfs", "spf", "f1")

#: How long speed is measured [s].
SECONDS = 5.0

Floats = npt.NDArray[Any]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def learning(
    seed: Annotated[int, typer.Option(help="of both learners", min=0)] = 1,
    rounds: Annotated[int, typer.Option(help="rounds of either learner", min=1)] = 25,
    resample: Annotated[int, typer.Option(help="variations of each log that judges", min=0)] = 5,
    out: Annotated[Path | None, typer.Option(help="keep the weights and the tournament in this folder")] = None,
    speed: Annotated[bool, typer.Option("--speed", help="print only the number of decisions a second")] = False,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Train on the first half of a log, and hold a tournament on its second half and on six other logs."""
    known_format(format)
    if speed:
        typer.echo(render(("copies", "threads", "decisions a second"), speeds(), format, digits=3))
        return
    whole = prepare(read_workload(TRAINED_ON))
    half = len(whole) // 2
    middle = float(np.sort(whole.jobs["submit"].to_numpy())[half] - whole.jobs["submit"].min())
    train = prepare(read_workload(TRAINED_ON), stop=middle)
    with TemporaryDirectory() as temporary:
        folder = out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        told = [
            keep(folder / "by-actions.txt", *by_actions(train, rounds, seed)),
            keep(folder / "by-weights.txt", *by_weights(train, rounds, seed)),
        ]
        typer.echo(render(("network", "jobs seen", "before", "after", "seconds"), told, format, digits=4) + "\n")
        results = tournament(field(folder, middle, resample), folder / "tournament")
        frame = results.frame()
    frame["scheduler"] = frame["scheduler"].str.replace(f"{folder}/", "").str.replace(".txt'", "'")
    logs = frame[frame["variation"] == 0].pivot_table(CRITERION, "scheduler", "workload", sort=False)
    rows = [(name, *row) for name, row in zip(logs.index, logs.to_numpy().tolist(), strict=True)]
    typer.echo(render(("scheduler", *map(str, logs.columns)), rows, format, digits=4) + "\n")
    typer.echo(leaderboard(frame, CRITERION, format=format))


def keep(path: Path, weights: Floats, seen: int, before: float, after: float, seconds: float) -> tuple[Any, ...]:
    """Write the weights of a network as `network(weights=FILE)` takes them, and return its row of the first table."""
    path.write_text("\n".join(readable(float(weight), 9) for weight in weights).replace(",", "").replace("–", "nan"))
    return path.stem, seen, before, after, round(seconds)


def field(folder: Path, middle: float, resample: int) -> Path:
    """Write the field: the second half of the log, the other logs, and every order under EASY."""
    names = [f"network(weights='{folder / name}.txt')" for name in ("by-actions", "by-weights")]
    logs = "".join(f'  "{name}",\n' for name in OTHERS)
    path = folder / "learning.toml"
    path.write_text(
        f'workloads = [\n  {{source = "{TRAINED_ON}", start = {middle}, name = "its second half"}},\n{logs}]\n'
        f'platforms = "log"\nresamples = {resample}\n\n'
        f"[[scheduler]]\norder = [{', '.join(f'{chr(34)}{name}{chr(34)}' for name in (*names, *RIVALS))}]\n"
        'start = "easy"\n'
    )
    return path


def speeds() -> Iterator[tuple[int, int, int]]:
    """Choose the first job again and again; yield how fast that goes, in plain Python and in many copies."""
    import gymnasium

    from harness.learning.environment import SchedulingVectorEnv

    one = gymnasium.make("harness.learning:harness/Scheduling-v0", workload="KTH-SP2").unwrapped
    one.reset(seed=0)
    began, decisions, over = time.perf_counter(), 0, False
    while time.perf_counter() - began < SECONDS:
        _, _, over, _, _ = one.step(0)
        decisions += 1
        if over:
            one.reset()
    yield 1, 1, round(decisions / (time.perf_counter() - began))
    for copies, threads in ((32, 1), (256, 1), (256, 2)):
        many = SchedulingVectorEnv(copies, workload="KTH-SP2", threads=threads)
        many.reset(seed=0)
        began, steps, actions = time.perf_counter(), 0, np.zeros(copies, int)
        while time.perf_counter() - began < SECONDS:
            many.step(actions)
            steps += 1
        yield copies, threads, round(copies * steps / (time.perf_counter() - began))
        many.close()


# ---------------------------------------------------------------- by actions, in the environment


def by_actions(train: Workload, rounds: int, seed: int) -> tuple[Floats, int, float, float, float]:
    """Learn in the environment with scikit-learn; return weights, jobs seen, what training gave before and after."""
    from sklearn.neural_network import MLPClassifier

    from harness.learning.environment import SchedulingVectorEnv

    began, dice = time.perf_counter(), np.random.default_rng(seed)
    env = SchedulingVectorEnv(32, workload=train, jobs=256, slots=64, reward=CRITERION, threads=2)
    usual = Usual(train, 256)
    network = MLPClassifier((16,), learning_rate_init=3e-3, random_state=seed)
    imitated = play(env, lambda rows: -rows[..., 1], dice, 0.0, seed)
    for _ in range(30):
        fit(network, [episode["rows"] for episode in imitated], dice)
    gains = []
    for number in range(rounds):
        episodes = play(env, lambda rows: logits(network, rows), dice, 1.0, seed + 1 + number)
        gain = np.array([np.log(-episode["reward"] / usual(episode["first"])) for episode in episodes])
        gains.append(float(np.exp(gain.mean())))
        best = np.argsort(gain)[: len(episodes) // 5]
        fit(network, [episodes[k]["rows"] for k in best], dice)
    env.close()
    hidden, out = network.coefs_[0], network.coefs_[1][:, 0]
    units = np.column_stack([hidden.T, network.intercepts_[0], -out])  # the network's lowest is first
    weights = np.append(units.ravel(), -network.intercepts_[1][0])
    return weights, (rounds + 1) * len(episodes) * 256, gains[0], gains[-1], time.perf_counter() - began


def play(env: Any, score: Any, dice: Any, noise: float, seed: int) -> list[dict[str, Any]]:
    """Run two episodes in every copy, with choices by score and noise. Return the choices and the results."""
    seen, info = env.reset(seed=seed)
    rows: list[list[Any]] = [[] for _ in range(env.num_envs)]
    done: list[dict[str, Any]] = []
    fresh = np.zeros(env.num_envs, bool)
    while len(done) < 2 * env.num_envs:
        mask, first = info["action_mask"].astype(bool), info["first"]
        drawn = score(seen) + noise * dice.gumbel(size=mask.shape)
        actions = np.where(mask, drawn, -np.inf).argmax(axis=1)
        for k in np.flatnonzero(~fresh & (mask.sum(axis=1) > 1)):
            other = dice.choice(np.flatnonzero(mask[k]))
            rows[k].append((seen[k, actions[k]], seen[k, other], other != actions[k]))
        seen, rewards, over, _, info = env.step(actions)
        for k in np.flatnonzero(over):
            done.append({"rows": rows[k], "reward": float(rewards[k]), "first": int(first[k])})
            rows[k] = []
        fresh = over
    return done


def fit(network: Any, episodes: list[list[Any]], dice: Any) -> None:
    """Train the network to distinguish chosen jobs from others."""
    pairs = [(chosen, other) for rows in episodes for chosen, other, differs in rows if differs]
    rows = np.array([row for pair in pairs for row in pair])
    labels = np.tile([1, 0], len(pairs))
    order = dice.permutation(len(rows))
    network.partial_fit(rows[order], labels[order], classes=[0, 1])


def logits(network: Any, rows: Floats) -> Floats:
    """Return the network's output for each row, before it becomes a probability."""
    hidden = np.maximum(rows @ network.coefs_[0] + network.intercepts_[0], 0.0)
    answer: Floats = (hidden @ network.coefs_[1] + network.intercepts_[1])[..., 0]
    return answer


# ---------------------------------------------------------------- by weights, under the compiled policy


def by_weights(train: Workload, rounds: int, seed: int) -> tuple[Floats, int, float, float, float]:
    """Draw networks of three units around the best ones; return what `by_actions` returns."""
    began, dice = time.perf_counter(), np.random.default_rng(seed)
    jobs, many, units = 1024, 40, 3
    usual = Usual(train, jobs)
    mean = np.append(np.tile([-0.5, 1, 0, 0, 0, 0, 0, 0, 1, 1 / units], units), 0.0)
    spread = np.full(len(mean), 0.5)
    gains, seen = [], 0
    for _ in range(rounds):
        firsts = dice.integers(len(train) - jobs + 1, size=8)
        drawn = mean + spread * dice.normal(size=(many, len(mean)))
        drawn[0] = mean
        worth = np.array([[usual.gain(int(first), weights) for first in firsts] for weights in drawn]).mean(axis=1)
        seen += drawn.shape[0] * len(firsts) * jobs
        gains.append(float(np.exp(worth[0])))
        best = drawn[np.argsort(worth)[: many // 5]]
        mean, spread = best.mean(axis=0), 0.9 * best.std(axis=0) + 0.02
    return mean, seen, gains[0], gains[-1], time.perf_counter() - began


class Usual:
    """Return the results of FCFS with EASY on parts of the training log, the reference of learners."""

    def __init__(self, train: Workload, jobs: int) -> None:
        order = np.argsort(train.jobs["submit"].to_numpy(), kind="stable")
        self.train, self.frame, self.jobs = train, train.jobs.iloc[order], jobs
        self.known: dict[int, float] = {}

    def __call__(self, first: int) -> float:
        """Return the criterion on the stretch that begins with a job."""
        if first not in self.known:
            self.known[first] = self.run(first, Scheduler("fcfs", "easy"))
        return self.known[first]

    def gain(self, first: int, weights: Floats) -> float:
        """Return the logarithm of the ratio of a network to that; less is better."""
        order = f"network(weights=[{', '.join(map(repr, weights.tolist()))}])"
        return float(np.log(self.run(first, Scheduler(order, "easy")) / self(first)))

    def run(self, first: int, scheduler: Scheduler) -> float:
        """Replay a stretch, and return the criterion."""
        from harness.results.measures import MEASURES

        stretch = Workload("stretch", self.frame.iloc[first : first + self.jobs], self.train.procs, f"{first}")
        return float(MEASURES[CRITERION].function(simulate(stretch, self.train.procs, scheduler)))


if __name__ == "__main__":
    main(app)
