"""Hooks of `tools/try_schema.ts`: what a schema cannot say of its own requests.

Names that the task sets: TRIAL_TENANT, the tenant that is tried; TRIAL_ACCOUNT, the administrator whose token is used,
TRIAL_PASSWORD and TRIAL_ORIGIN.
"""

import os
import re
import unicodedata

import requests
import schemathesis

TENANT = os.environ["TRIAL_TENANT"]
ACCOUNT = os.environ["TRIAL_ACCOUNT"]
ORIGIN = os.environ["TRIAL_ORIGIN"]

MOST_PARTS = 10_000
DEFAULT_PART_BYTES = 25 * 1024 * 1024

# Settings that decide which other requests are rejected: they are tried, and restored after each change.
TENANT_PATH = "/api/v1/mapi/tenants/{tenant_name}"
GOVERNING = {
    TENANT_PATH: {"maxNamespacesPerUser": 10_000, "administrationAllowed": True},
    TENANT_PATH + "/consoleSecurity": {
        "minimumPasswordLength": 6,
        "lowerCaseLetterCount": 0,
        "upperCaseLetterCount": 0,
        "numericCharacterCount": 0,
        "specialCharacterCount": 0,
        "passwordReuseDepth": 0,
        "blockCommonPassword": False,
        "blockPasswordReUse": False,
        "passwordCombination": False,
        "passwordContainsUsername": True,
    },
    TENANT_PATH + "/permissions": {
        "permission": ["READ", "WRITE", "DELETE", "PRIVILEGED", "PURGE", "SEARCH"]
    },
}


@schemathesis.hook
def before_call(context, case, kwargs):
    names = case.path_parameters
    if not isinstance(names, dict):
        return
    # The account that is used is neither changed nor deleted: another one takes what is meant for it.
    user = names.get("username")
    if isinstance(user, str) and user.lower() == ACCOUNT and case.method.upper() in {"POST", "DELETE"}:
        names["username"] = "lena"


# Members and parameters that name something new, and characters that Python prints though nothing shows.
NEW_NAMES = ("username", "groupname", "externalGroupID", "name", "initialSecurityGroup")
INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def looks_like_another(name):
    """Whether the embedded store rejects a new name because readers could take it for another one."""
    return (
        unicodedata.normalize("NFKC", name) != name
        or not name.isprintable()
        or name.strip() != name
        or "  " in name
        or INVISIBLE.search(name) is not None
    )


@schemathesis.hook
def filter_case(context, case):
    """How many parts an upload has depends on two members, which no schema can bound together, nor the numbers of parts."""
    if case.method.upper() == "PUT":
        given = [where.get(name) for where in (case.body, case.query) if isinstance(where, dict) for name in NEW_NAMES]
        if any(isinstance(name, str) and looks_like_another(name) for name in given):
            return False
    if not case.path.endswith("/multipart/{key}/presign") or not isinstance(case.body, dict):
        return True
    size, part = case.body.get("file_size"), case.body.get("part_size") or DEFAULT_PART_BYTES
    # 2.0 is a whole number, too.
    if not isinstance(size, (int, float)) or not isinstance(part, (int, float)) or part <= 0:
        return True
    checksums, parts = case.body.get("checksums") or [], -(-size // part)
    if isinstance(checksums, list) and not case.body.get("upload_id") and 0 < len(checksums) < parts:
        return False
    return size <= part * MOST_PARTS and of_the_parts(checksums, parts)


def of_the_parts(checksums, parts):
    """Whether checksums name parts that there are, and each of them once."""
    if not isinstance(checksums, list) or not all(isinstance(one, dict) for one in checksums):
        return True
    numbers = [one.get("part_number") for one in checksums]
    if not all(isinstance(number, (int, float)) for number in numbers):
        return True
    return len(set(numbers)) == len(numbers) and all(number <= parts for number in numbers)


@schemathesis.hook
def after_call(context, case, response):
    settings = GOVERNING.get(case.path)
    if settings is None or case.method.upper() != "POST" or response.status_code >= 300:
        return
    authorization = response.request.headers["Authorization"]
    path = case.path.replace("{tenant_name}", TENANT)
    response = requests.post(ORIGIN + path, json=settings, headers={"Authorization": authorization}, timeout=30)
    response.raise_for_status()
