"""The error tree, drawn once, and the blame that each failure carries.

    ScreenloopError                    .blame  .retry
      ConfigError (ValueError)         before anything ran: a name, flag or file is wrong
      AgentError                       the agent's own failure: scored (usually 0)
        ParseFailure                   the reply holds no action that can be read
      TaskError                        the task is broken (bad state, verifier crashed): unscored
      EnvironmentFault                 reset failed, app crashed, screen gone: retried elsewhere
        UnsupportedAction              the Environment does not execute this Action (agent's blame)
        StaleFrame                     coordinates refer to a frame that is gone (agent's blame)
      InfraFault                       host lost, store or model unreachable: retried
        LeaseLost                      the Lease expired or was replaced
        Busy                           nothing is free now; says when to come again
        DeadlinePassed (TimeoutError)  an operation did not answer in time
        ModelUnavailable               the model server refused or vanished

Failure is data: it is classified where it happens and recorded once, in `rollout/episode.py`.
Only failures blamed on the agent are scored; every other one leaves the attempt unscored.
"""

from __future__ import annotations

from enum import StrEnum


class Blame(StrEnum):
    """Who is answerable for a failure; decides scoring and retrying."""

    AGENT = "agent"
    """The model or its harness: scored, never retried."""
    TASK = "task"
    """The task definition or its verifier: unscored, not retried."""
    ENVIRONMENT = "environment"
    """The Instance: unscored, retried on another Instance."""
    INFRASTRUCTURE = "infrastructure"
    """Hosts, stores, networks, model servers: unscored, retried."""


class ScreenloopError(Exception):
    """Every failure that screenloop raises on purpose."""

    blame: Blame = Blame.INFRASTRUCTURE
    retry: bool = False


class ConfigError(ScreenloopError, ValueError):
    """Raised before anything ran: a name, a flag or a file is wrong; says the valid choices."""

    blame = Blame.TASK


class AgentError(ScreenloopError):
    """Raised when the agent broke a rule of the loop; the attempt is scored."""

    blame = Blame.AGENT


class ParseFailure(AgentError):
    """Raised when a reply holds no readable action; says what was wrong with it."""


class TaskError(ScreenloopError):
    """Raised when a task or verifier is broken; the attempt is unscored and not retried."""

    blame = Blame.TASK


class EnvironmentFault(ScreenloopError):
    """Raised when an Instance fails; the attempt is unscored and retried on another Instance."""

    blame = Blame.ENVIRONMENT
    retry = True


class UnsupportedAction(EnvironmentFault):
    """Raised when an Environment is asked for an Action outside its declared set."""

    blame = Blame.AGENT
    retry = False


class StaleFrame(EnvironmentFault):
    """Raised when coordinates name a frame that is no longer on the screen."""

    blame = Blame.AGENT
    retry = False


class InfraFault(ScreenloopError):
    """Raised when something around the Instance failed: host, store, network, model server."""

    blame = Blame.INFRASTRUCTURE
    retry = True


class LeaseLost(InfraFault):
    """Raised when a Lease expired, was released or was replaced by a newer fence."""


class Busy(InfraFault):
    """Raised when nothing is free, or a limit is reached; nothing happened, come again later."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        """Take the sentence and the seconds after which it is worth asking again."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DeadlinePassed(InfraFault, TimeoutError):
    """Raised when an operation did not answer within its deadline."""


class ModelUnavailable(InfraFault):
    """Raised when the model server cannot be reached or keeps refusing."""
