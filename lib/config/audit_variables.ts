import { section } from "./described.ts";
import { choice, flag, integer, keyPrefix, line, origin, path, syslogAddress } from "./values.ts";

const audit = section("Audit trail");

const MAX_DAYS = 36_500;

/** Where it is recorded who changed what. */
export const auditVariables = {
  AUDIT_RETENTION_DAYS: audit(
    integer(1, MAX_DAYS, "days").optional(),
    "How long the [audit trail](audit.md) and that of the embedded store are retained. After a pause longer than that, removal starts with the second day that has records.",
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
    "A regular file that records are appended to as well, a line of JSON each. It may be rotated by renaming it.",
    { otherwise: "none" },
  ),
  AUDIT_SYSLOG_URL: audit(
    syslogAddress().optional(),
    "A syslog server that records are sent to: `udp://`, `tcp://` or `tls://` with host and port. All but `tls://` to another machine is logged at the start.",
    { otherwise: "none" },
  ),
  AUDIT_S3_ENDPOINT: audit(
    origin().optional(),
    "An S3 store that records are written to, some hundred in an object.",
    { otherwise: "none" },
  ),
  AUDIT_S3_BUCKET: audit(line().optional(), "The bucket in it.", { otherwise: "required with `AUDIT_S3_ENDPOINT`" }),
  AUDIT_S3_PREFIX: audit(keyPrefix().default("audit/"), "What the keys of these objects begin with."),
  AUDIT_S3_REGION: audit(line().default("us-east-1"), "The region in the signatures for that store."),
  AUDIT_S3_ACCESS_KEY_FILE: audit(
    path().optional(),
    "A file with an access key that may write these objects; it needs no other right.",
    { otherwise: "required with `AUDIT_S3_ENDPOINT`" },
  ),
  AUDIT_S3_SECRET_KEY_FILE: audit(path().optional(), "A file with its secret.", {
    otherwise: "required with `AUDIT_S3_ENDPOINT`",
  }),
  AUDIT_S3_LOCK: audit(
    choice(["off", "governance", "compliance"]).default("off"),
    "The mode of object lock with which the objects are written, for buckets that have it.",
  ),
  AUDIT_S3_LOCK_DAYS: audit(
    integer(1, MAX_DAYS, "days").optional(),
    "For how long they are locked.",
    { otherwise: "required with `AUDIT_S3_LOCK`" },
  ),
};
