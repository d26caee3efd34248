"""What a run of our own workflow measured, held against its plan: what of it may become a baseline, and why the rest may not.

A machine that measures is not trusted with what it says: it can upload anything under any name. Only what the plan of a hosted
machine expects is read, once a job, under limits, and it must be one whole, unbroken account of exactly the point that was
planned (SECURITY.md 4, 5, 12).
"""

from bot.baseline.swept.artifacts import Upload, shelved
from bot.baseline.swept.job import Known, gather
from bot.baseline.swept.made import measured, open_to
from bot.baseline.swept.moments import Moments, timely
from bot.baseline.swept.plan import named, planned

__all__ = ["Known", "Moments", "Upload", "gather", "measured", "named", "open_to", "planned", "shelved", "timely"]
