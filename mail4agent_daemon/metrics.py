"""Figures for an operator in Prometheus' text form. No account, address or message appears in them."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from mail4agent_core.mail.figures import Figures

from .connections import Connections
from .delays import Delays
from .rates import Rates
from .waiting import Waiters

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """The figures of one daemon."""

    def __init__(
        self, waiters: Waiters, connections: Connections, figures: Figures, rates: Rates, delays: Delays
    ) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "mail4agent_requests",
            "Requests by path and status.",
            ("route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "mail4agent_request_seconds",
            "Time from a request's head to its answer.",
            ("route",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._children: dict[tuple[str | None, int], tuple[Counter, Histogram]] = {}
        self._registry.register(_Now(waiters, connections, figures, rates, delays))

    def request(self, route: str | None, status: int, seconds: float) -> None:
        """Count an answered request; the route is one of ours or None."""
        requests, took = self._children.get((route, status)) or self._child(route, status)
        requests.inc()
        took.observe(seconds)

    def _child(self, route: str | None, status: int) -> tuple[Counter, Histogram]:
        """The figures of a route and a status, kept: finding them by label costs more than counting."""
        name = route or "none"
        child = (self._requests.labels(name, str(status)), self._seconds.labels(name))
        self._children[route, status] = child
        return child

    async def page(self) -> tuple[bytes, bytes]:
        """Content type and text."""
        return CONTENT_TYPE, generate_latest(self._registry)


class _Now(Collector):
    """What is read at the moment of asking."""

    def __init__(
        self, waiters: Waiters, connections: Connections, figures: Figures, rates: Rates, delays: Delays
    ) -> None:
        self._waiters = waiters
        self._connections = connections
        self._figures = figures
        self._rates = rates
        self._delays = delays

    def collect(self) -> Iterable[Metric]:
        figures, parked, connections = self._figures, self._waiters.parked, len(self._connections)
        yield GaugeMetricFamily("mail4agent_parked_readers", "Readers that wait for mail now.", parked)
        yield GaugeMetricFamily("mail4agent_connections", "Open connections.", connections)
        yield CounterMetricFamily("mail4agent_store_commits", "Commits of the store.", figures.commits)
        yield CounterMetricFamily("mail4agent_store_writes", "Writes in those commits.", figures.writes)
        yield CounterMetricFamily(
            "mail4agent_store_faults", "Batches that failed and were undone.", figures.faults
        )
        refused = CounterMetricFamily(
            "mail4agent_rate_limited", "Requests refused because a bucket was empty.", labels=("bucket",)
        )
        for bucket, count in self._rates.refused.items():
            refused.add_metric((bucket,), count)
        yield refused
        delays = self._delays
        yield GaugeMetricFamily("mail4agent_held_refusals", "Wrong secrets held back now.", len(delays))
        wrong = CounterMetricFamily(
            "mail4agent_wrong_secrets", "Wrong secrets, by whether they were held back.", labels=("held",)
        )
        wrong.add_metric(("yes",), delays.delayed)
        wrong.add_metric(("no",), delays.undelayed)
        yield wrong
