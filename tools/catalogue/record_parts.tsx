import type { ComponentProps } from "preact";
import { AuditForm, AuditTable } from "@/components/storage/audit_trail.tsx";
import { BaselineField } from "@/components/storage/baseline_field.tsx";
import { FixityForm } from "@/components/storage/fixity_form.tsx";
import { FixityFacts, FixityFilters, FixityRows } from "@/components/storage/fixity_report.tsx";
import { FixitySchedules } from "@/components/storage/fixity_schedules.tsx";
import { FixitySummary } from "@/components/storage/fixity_summary.tsx";
import { StoragePlaces } from "@/components/storage/storage_frame.tsx";
import { AUDIT_ACTIONS, auditFilterOf } from "@/lib/pages/storage/audit_sentences.ts";
import { FIXITY_RESULTS, type FixityCheck, START_PROBLEMS } from "@/lib/pages/storage/fixity_check.ts";
import { baselinesOf } from "@/lib/pages/storage/fixity_fields.ts";
import { LAST_CHECK, NEW_CHECK, NEW_SCHEDULE } from "@/tests/lib/pages/storage/fixity_samples.ts";
import { SAMPLE_NOW } from "@/tests/site/fake_campaigns.ts";
import { Part, State } from "./part.tsx";

/** The components of the pages about fixity checks and the audit trail. */
export function RecordParts() {
  return (
    <>
      <Part title="Pages of an account">
        <StoragePlaces account={ACCOUNT} here="/storage" subject={null} hasTrail />
      </Part>
      <Part title="Fixity checks">
        {Object.entries(CHECKS).map(([name, check]) => (
          <State key={name} name={name}>
            <FixitySummary
              account={ACCOUNT}
              check={check}
              expected={name.startsWith("running, of") ? { objects: 1500, bytes: 90_000_000_000 } : null}
              style={STYLE}
              isAlone={name === "damage"}
            />
          </State>
        ))}
      </Part>
      <Part title="What a check rests on">
        <FixityFacts account={ACCOUNT} check={BAG} />
      </Part>
      <Part title="Form of a check">
        <State name="filled in, with a line break">
          <FixityForm
            account={ACCOUNT}
            buckets={["letters", "maps"]}
            baseline={
              <BaselineField baselines={baselinesOf([BAG], FIELDS)} bucket="letters" chosen="" problem={null} />
            }
            fields={FIELDS}
            problem={null}
          />
        </State>
      </Part>
      <Part title="Form of a check that was not started">
        <FixityForm
          account={ACCOUNT}
          buckets={null}
          baseline={null}
          fields={{ ...FIELDS, bucket: "none", prefix: "1794/" }}
          problem={{ field: "bucket", text: START_PROBLEMS.missing }}
        />
      </Part>
      <Part title="Objects of a report">
        <FixityFilters account={ACCOUNT} check={BAG} current="damaged" />
        <FixityRows account={ACCOUNT} bucket="letters" rows={ROWS} />
      </Part>
      <Part title="Schedules of checks">
        <FixitySchedules account={ACCOUNT} style={STYLE} listed={{ schedules: SCHEDULES, partial: true }} />
      </Part>
      <Part title="Filter of the audit trail">
        <AuditForm account="admin" filter={auditFilterOf(new URLSearchParams({ tenant: "archive" }))} hasTenants />
      </Part>
      <Part title="Records of the audit trail">
        <AuditTable account={ACCOUNT} tenant="archive" records={RECORDS} now={SAMPLE_NOW} />
      </Part>
    </>
  );
}

const ACCOUNT = "archive/curator";
const STYLE = { zone: "Europe/Stockholm", now: SAMPLE_NOW };
const ago = (minutes: number) => new Date(SAMPLE_NOW - minutes * 60_000).toISOString();

function checkOf(more: Partial<FixityCheck>): FixityCheck {
  return { ...NEW_CHECK, prefix: "1794/", started_at: ago(90), ended_at: ago(30), ...more };
}

const BAG = checkOf({
  intact: 1480,
  changed: 2,
  missing: 1,
  unreadable: 1,
  unproven: 12,
  not_in_manifest: 3,
  deleted: 1,
  damaged: 4,
  bytes: 90_000_000_000,
  rate_limit: 20_000_000,
  full: true,
  all_versions: true,
  proved_by: { ...NEW_CHECK.proved_by, manifest: 1400, checksum: 80 },
  manifest: { bucket: "letters", keys: ["bag/manifest-sha256.txt"], root: "bag/", entries: 1484, invalid_lines: 1 },
  bag: { valid: false, problems: ["Payload-Oxum is 3.2, and 4.2 was found"], problem_codes: [null] },
  baseline: "6f0e",
  etags: "other",
  written: [{ key: "reports/fixity-6f0e.csv", size: 1, sha256: "00" }],
  write_error: "the bucket has no room left",
});

const CHECKS: Readonly<Record<string, FixityCheck>> = {
  "running": checkOf({
    status: "processing",
    ended_at: null,
    files: 3,
    intact: 3,
    bytes: 90_000_000,
    rate: 20_000_000,
  }),
  "running, of a known size": checkOf({
    status: "processing",
    ended_at: null,
    files: 700,
    intact: 699,
    changed: 1,
    damaged: 1,
    bytes: 40_000_000_000,
    bytes_under_way: 900_000_000,
    rate: 20_000_000,
    schedule: "nightly",
  }),
  "no damage": checkOf({ intact: 1500, bytes: 90_000_000_000 }),
  "damage": BAG,
  "nothing to check": checkOf({}),
  "cancelled": checkOf({ status: "canceled" }),
  "failed": checkOf({ status: "failed", error: "the password was changed", prefix: "" }),
  "a long name": checkOf({ intact: 1, prefix: `${"a-long-name".repeat(20)}\u202E<b>/` }),
};

const FIELDS = {
  bucket: "maps",
  prefix: "1794/\n",
  manifest: "1794/manifest-sha256.txt",
  manifest_bucket: "",
  manifest_root: "data/",
  bag: false,
  baseline: "",
  etags: false,
  report_to: "reports/",
  rate: "20",
  all_versions: false,
  full: true,
};

const ROWS: ComponentProps<typeof FixityRows>["rows"] = FIXITY_RESULTS.map((result) => ({
  key: `1794/${result === "changed" ? "a-long-name".repeat(20) : result}.tif`,
  result,
  ...result === "missing" ? {} : { size: 1_200_000 },
  ...result === "unproven" ? { version_id: "79" } : {},
  ...result === "unreadable" ? { detail: "the store gives 3 bytes of 4" } : {},
  ...result === "intact" ? { proved_by: "checksum_of_parts", sha256: "2".repeat(64) } : {},
  ...result === "changed"
    ? { proved_by: "manifest", algorithm: "sha256", expected: "0".repeat(64), actual: "1".repeat(64) }
    : {},
}));

const SCHEDULES: ComponentProps<typeof FixitySchedules>["listed"]["schedules"] = [
  {
    ...NEW_SCHEDULE,
    time_zone: "Europe/Stockholm",
    next_at: ago(-600),
    last: { ...LAST_CHECK, started_at: ago(600), files: 1500, damaged: 2 },
  },
  { ...NEW_SCHEDULE, name: "maps", own: false, bucket: "maps", prefix: "1870/", cron: "@weekly", error: "none" },
];

const RESULTS = ["succeeded", "refused", "failed"] as const;
const KINDS = ["session", "account", "group", "tenant", "task"] as const;
const RECORDS: ComponentProps<typeof AuditTable>["records"] = AUDIT_ACTIONS.map((action, n) => ({
  v: 1,
  id: `7f3a.${n}`,
  time: ago(n),
  source: n % 5 === 4 ? "store" : "application",
  role: "gateway",
  action,
  tenant: n % 3 === 2 ? "other" : "archive",
  actor: n % 4 === 1 ? null : { name: "curator", tenant: "archive" },
  address: "192.0.2.7",
  request_id: `0b5c${n}`,
  target: action.startsWith("object")
    ? { kind: "object", bucket: "letters", key: `1794/${"a-long-name".repeat(n)}.pdf` }
    : { kind: KINDS[n % KINDS.length], name: "lena" },
  result: RESULTS[n % 3],
  status: 200,
  details: { count: 2, keys: ["1794/a.pdf", "1794/\u202Eb.pdf"] },
}));
