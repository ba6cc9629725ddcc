"""Answers of the calls about jobs."""

from delayer.http.answers import Response, Shown, problem, response
from delayer.jobs.rules import JobRow
from delayer.schedule.instants import format_instant


def job_started(job: JobRow) -> Response:
    """202, with the job that cancels in the background."""
    return response(202, shown_job(job), {"Location": f"/jobs/{job.job_id}"})


def shown_job(job: JobRow) -> Shown:
    """A job with its counts so far."""
    body: Shown = {
        "jobId": job.job_id,
        "group": job.group,
        "state": "done" if job.finished_at else "running",
        "found": job.found,
        "cancelled": job.cancelled,
        "handedOver": job.handed_over,
        "ended": job.ended,
        "createdAt": format_instant(job.created_at),
    }
    return {**body, "finishedAt": format_instant(job.finished_at)} if job.finished_at else body


def no_job() -> Response:
    """404."""
    return problem(404, "not-found", "No such job", "There is no job with this id, or it is more than 30 days old.")
