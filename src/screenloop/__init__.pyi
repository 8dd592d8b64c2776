"""Types of the public surface; `__init__.py` imports each name when it is first used."""

__version__: str

from screenloop.actions import Action as Action
from screenloop.actions import Answer as Answer
from screenloop.actions import Ask as Ask
from screenloop.actions import Bash as Bash
from screenloop.actions import Batch as Batch
from screenloop.actions import Finish as Finish
from screenloop.actions import Hotkey as Hotkey
from screenloop.actions import Hover as Hover
from screenloop.actions import Key as Key
from screenloop.actions import Noop as Noop
from screenloop.actions import Open as Open
from screenloop.actions import Pinch as Pinch
from screenloop.actions import Scroll as Scroll
from screenloop.actions import Swipe as Swipe
from screenloop.actions import Tap as Tap
from screenloop.actions import Tool as Tool
from screenloop.actions import Type as Type
from screenloop.actions import Wait as Wait
from screenloop.agent.base import Agent as Agent
from screenloop.agent.base import Assignment as Assignment
from screenloop.agent.base import Decision as Decision
from screenloop.agent.base import Turn as Turn
from screenloop.agent.dialects.base import Dialect as Dialect
from screenloop.agent.dialects.checker import check_dialect as check_dialect
from screenloop.api import collect as collect
from screenloop.api import connect as connect
from screenloop.api import evaluate as evaluate
from screenloop.api import load_run as load_run
from screenloop.api import read_episodes as read_episodes
from screenloop.criteria import Added as Added
from screenloop.criteria import AnswerIs as AnswerIs
from screenloop.criteria import Changed as Changed
from screenloop.criteria import Code as Code
from screenloop.criteria import Count as Count
from screenloop.criteria import Date as Date
from screenloop.criteria import Duration as Duration
from screenloop.criteria import FinishIs as FinishIs
from screenloop.criteria import Money as Money
from screenloop.criteria import Number as Number
from screenloop.criteria import Removed as Removed
from screenloop.criteria import Sequence as Sequence
from screenloop.criteria import Set as Set
from screenloop.criteria import Text as Text
from screenloop.criteria import Time as Time
from screenloop.criteria import Unchanged as Unchanged
from screenloop.criteria import Value as Value
from screenloop.envs.base import Environment as Environment
from screenloop.envs.checker import check_environment as check_environment
from screenloop.manager.base import Manager as Manager
from screenloop.models.base import Model as Model
from screenloop.phone.phone import Phone as Phone
from screenloop.train.facade import train as train
from screenloop.types import Budget as Budget
from screenloop.types import EnvRef as EnvRef
from screenloop.types import EnvSpec as EnvSpec
from screenloop.types import Goal as Goal
from screenloop.types import Observation as Observation
from screenloop.types import Task as Task
from screenloop.types import World as World

__all__ = [
    "Action",
    "Added",
    "Agent",
    "Answer",
    "AnswerIs",
    "Ask",
    "Assignment",
    "Bash",
    "Batch",
    "Budget",
    "Changed",
    "Code",
    "Count",
    "Date",
    "Decision",
    "Dialect",
    "Duration",
    "EnvRef",
    "EnvSpec",
    "Environment",
    "Finish",
    "FinishIs",
    "Goal",
    "Hotkey",
    "Hover",
    "Key",
    "Manager",
    "Model",
    "Money",
    "Noop",
    "Number",
    "Observation",
    "Open",
    "Phone",
    "Pinch",
    "Removed",
    "Scroll",
    "Sequence",
    "Set",
    "Swipe",
    "Tap",
    "Task",
    "Text",
    "Time",
    "Tool",
    "Turn",
    "Type",
    "Unchanged",
    "Value",
    "Wait",
    "World",
    "check_dialect",
    "check_environment",
    "collect",
    "connect",
    "evaluate",
    "load_run",
    "read_episodes",
    "train",
]
