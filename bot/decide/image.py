"""What it means that another image ran: no failure and no number of it is the candidate's, and somebody must clear its cache."""

from __future__ import annotations

from collections.abc import Iterable

from bot.decide.progress import named
from bot.decide.runs import failed_jobs
from bot.model.bump import Bump, Judged
from bot.model.result import Proof
from bot.model.run import Run
from bot.model.text import Text

_RAN = {
    "old": Text("The old image ran, not the candidate: at {points} {who} {ran}, and the candidate would be {wanted}.",
                "实际运行的是旧镜像，而非候选镜像：在 {points}，{who} {ran}，而候选镜像应为 {wanted}。"),
    "other": Text("Another image ran than the candidate: at {points} {who} {ran}, and the candidate would be {wanted}.",
                  "实际运行的是其他镜像，而非候选镜像：在 {points}，{who} {ran}，而候选镜像应为 {wanted}。"),
}
_WHO = {
    "server": Text("the server reported", "服务端报告为"),
    "harness": Text("the results name", "结果中注明的是"),
}
_CLEAR = {
    "cache": Text("It came from the stale squash cache {cache}. Delete that file on the cluster, then ask for the smoke again.",
                  "它来自过期的 squash 缓存 {cache}。请在集群上删除该文件，然后重新请求冒烟测试。"),
    "unknown": Text("A squash cache kept under the image's name does this, or a launcher that sets its image itself. Clear "
                    "the one or mend the other, then ask for the smoke again.",
                    "按镜像名保留的 squash 缓存，或自行指定镜像的启动脚本，都会造成这种情况。"
                    "请清除缓存或修正启动脚本，然后重新请求冒烟测试。"),
}
_SOME = Text("Only some nodes did so.", "仅部分节点如此。")


def wrong(judged: Judged | None) -> tuple[Proof, ...]:
    """The points at which something else is known to have run."""
    return tuple(one for one in (judged.proofs if judged else ()) if one.contradicted)


def unproven(measured: Iterable[Proof], repeated: Iterable[Proof] = ()) -> tuple[Proof, ...]:
    """The points of a sweep at which nobody vouches for the image, evals included, less those that a repeat of the same head has
    proven since. Saturation takes a point out of the pool, and never out of this gate: a sweep was validated though its
    saturated c8 had measured the old image."""
    again = {(one.role, one.recipe, one.concurrency) for one in repeated if one.holds}
    return tuple(one for one in measured if not one.holds and (one.role, one.recipe, one.concurrency) not in again)


def decisive(run: Run, judged: Judged) -> tuple[Proof, ...]:
    """Those that decide what a broken run means: any of a smoke, since the sweep would measure the same; of a sweep or a repeat
    those of jobs that failed, since a crash of another image is not the candidate's."""
    found = wrong(judged)
    if run.stage == "smoke":
        return found
    failed = {(job.role, job.concurrency) for job in failed_jobs(run)}
    recipes = {job.recipe for job in failed_jobs(run)} - {""}
    return tuple(one for one in found if (one.role, one.concurrency) in failed and (not recipes or one.recipe in recipes))


def why(bump: Bump, proofs: Iterable[Proof]) -> Text | None:
    """What ran, where, and what to clear; the first kind of it where several differ."""
    found = tuple(proofs)
    if not found:
        return None
    first = found[0]
    alike = [one for one in found if (one.ran, one.cache, one.old, one.state) == (first.ran, first.cache, first.old, first.state)]
    points = [named(bump, one.recipe, one.role, one.concurrency or None) for one in alike]
    parts = [_RAN["old" if first.old else "other"], _CLEAR["cache" if first.cache else "unknown"]]
    parts[1:1] = [_SOME] if first.state == "conflicting" else []
    who = _WHO["harness" if first.why == "harness" else "server"]
    return Text(*(separator.join(getattr(part, language) for part in parts).format(
        points=comma.join(points), who=getattr(who, language), ran=first.ran or "?", wanted=first.wanted, cache=first.cache)
        for language, comma, separator in (("en", ", ", " "), ("zh", "、", ""))))
