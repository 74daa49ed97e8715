import { section } from "./described.ts";
import { flag, integer, path } from "./values.ts";

const audit = section("Audit trail");

const MAX_DAYS = 36_500;

/** Where it is recorded who changed what. */
export const auditVariables = {
  AUDIT_RETENTION_DAYS: audit(
    integer(1, MAX_DAYS, "days").optional(),
    "How long the [audit trail](audit.md) is retained. After a pause longer than that, removal starts with the second day that has records.",
    { otherwise: "1 beside samples, whose campaigns write all the time, else for ever" },
  ),
  AUDIT_DIR: audit(
    path().optional(),
    "The folder of the audit trail. One process at a time may use it.",
    { otherwise: "`audit` in the data folder; without an embedded part, none" },
  ),
  AUDIT_REQUIRED: audit(
    flag().default(false),
    "`true` refuses changes with 507 while they cannot be recorded. Otherwise they go on, and lost records are counted.",
  ),
  AUDIT_FILE: audit(
    path().optional(),
    "A regular file that records are appended to as well, a line of JSON each; `-` is standard output. A file may be rotated by renaming it.",
    { otherwise: "none" },
  ),
};
