import type { ComponentChildren } from "preact";
import { ALL_SENTENCES } from "@/lib/pages/coded_check_sentences.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { codedText, codedTexts } from "@/lib/pages/coded_sentences.ts";
import {
  damageKinds,
  FIELD_LABELS,
  type FilterChoice,
  filterWords,
  FIXITY_LABELS,
  FIXITY_SENTENCES,
  type FixityCheck,
  type FixityResult,
  PROOF_WORDS,
  RESULT_WORDS,
  type RowFilter,
  rowFilters,
  unwrittenSentence,
} from "@/lib/pages/storage/fixity_check.ts";
import { fixityPath, folderPath, objectPath } from "@/lib/pages/storage/storage_paths.ts";
import { KeyName } from "./key_name.tsx";
import { Chip } from "@/components/chip.tsx";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import type { ReportRow } from "@/lib/tasks/fixity/report.ts";

const PROOFS = Object.keys(PROOF_WORDS) as (keyof typeof PROOF_WORDS)[];

interface FixityFactsProps {
  readonly account: string;
  readonly check: FixityCheck;
}

/** The options of a fixity check, and the sources of its expected values. */
export function FixityFacts({ account, check }: FixityFactsProps) {
  const { bucket, prefix, etags, rate_limit, status, manifest, bag, baseline, written } = check;
  const proofs = PROOFS.filter((proof) => check.proved_by[proof] > 0);
  const unwritten = unwrittenSentence(check);
  const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const place = folderPath({ account, bucket, prefix: folder, find: prefix.slice(folder.length) });
  const options = [
    ...etags === "ignored" ? [FIELD_LABELS.etags] : [],
    ...check.all_versions ? [FIELD_LABELS.all_versions] : [],
    ...check.full ? [FIELD_LABELS.full] : [],
    ...rate_limit === null ? [] : [FIXITY_SENTENCES.atMost(FIXITY_SENTENCES.rate(formatBytes(rate_limit)))],
  ];
  return (
    <section class="check-facts">
      <dl class="fact-list">
        <Fact name={FIXITY_LABELS.where}>
          <a href={place}>
            <KeyName name={`${bucket}/${prefix}`} />
          </a>
        </Fact>
        {options.length > 0 && <Fact name={FIXITY_LABELS.options}>{options.join(", ")}</Fact>}
        {proofs.length > 0 && (
          <Fact name={FIXITY_LABELS.provedBy}>
            {proofs.map((proof) => FIXITY_SENTENCES.proved(check.proved_by[proof], PROOF_WORDS[proof])).join(", ")}
          </Fact>
        )}
        {manifest && manifest.keys.length > 0 && <Manifest account={account} bucket={bucket} manifest={manifest} />}
        {bag && <Bag bag={bag} />}
        {baseline !== null && (
          <Fact name={FIELD_LABELS.baseline}>
            <a class="vid" href={fixityPath({ account, bucket, task: baseline })}>{baseline}</a>
          </Fact>
        )}
        {written.length > 0 && (
          <Fact name={FIXITY_LABELS.written}>
            {written.map(({ key }) => <ObjectLink key={key} account={account} bucket={bucket} name={key} />)}
          </Fact>
        )}
      </dl>
      {check.unproven > 0 && <p class="remark">{FIXITY_SENTENCES.unprovenObjects(check.unproven)}</p>}
      {etags === "other" && <p class="remark">{FIXITY_SENTENCES.otherEtags}</p>}
      {status === "canceled" && <p class="remark">{FIXITY_SENTENCES.canceled}</p>}
      {unwritten !== "" && <p class="banner warn">{unwritten}</p>}
    </section>
  );
}

/** Keys of manifests that are shown; a bag may have several. */
const MAX_KEYS = 10;

interface ManifestProps {
  readonly account: string;
  readonly bucket: string;
  readonly manifest: NonNullable<FixityCheck["manifest"]>;
}

function Manifest({ account, bucket, manifest }: ManifestProps) {
  const { keys, entries, invalid_lines } = manifest;
  const figures = [
    ...entries === null
      ? []
      : [keys.length === 1 ? FIXITY_SENTENCES.manifestEntries(entries) : FIXITY_SENTENCES.manifestLines(entries)],
    ...invalid_lines > 0 ? [FIXITY_SENTENCES.invalidLines(invalid_lines)] : [],
  ];
  return (
    <Fact name={FIXITY_LABELS.inManifest}>
      {keys.slice(0, MAX_KEYS).map((key) => (
        <ObjectLink key={key} account={account} bucket={manifest.bucket ?? bucket} name={key} />
      ))}
      {keys.length > MAX_KEYS && <p>+ {formatCount(keys.length - MAX_KEYS)}</p>}
      {figures.length > 0 && <p class="sub">{figures.join(", ")}</p>}
    </Fact>
  );
}

function Bag({ bag }: { readonly bag: NonNullable<FixityCheck["bag"]> }) {
  if (bag.valid === null) return null;
  const problems = codedTexts(bag.problems, bag.problem_codes, ALL_SENTENCES);
  return (
    <Fact name={FIXITY_LABELS.bag}>
      {bag.valid ? FIXITY_SENTENCES.bagValid : FIXITY_SENTENCES.bagInvalid}
      {problems.length > 0 && <ul>{problems.map((problem) => <li key={problem}>{problem}</li>)}</ul>}
    </Fact>
  );
}

interface ObjectLinkProps {
  readonly account: string;
  readonly bucket: string;
  readonly name: string;
}

function ObjectLink({ account, bucket, name }: ObjectLinkProps) {
  return (
    <p>
      <a href={objectPath({ account, bucket, key: name })}>
        <KeyName name={name} />
      </a>
    </p>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

interface FixityFiltersProps {
  readonly account: string;
  readonly check: FixityCheck;
  readonly current: RowFilter;
}

/** The choice of which rows are shown: links, so that it works without scripts. */
export function FixityFilters({ account, check, current }: FixityFiltersProps) {
  const { bucket, task_id: task } = check;
  const kinds = damageKinds(check);
  const choices = rowFilters(check);
  const link = ({ filter, objects }: FilterChoice) => (
    <a
      key={filter}
      class="btn small"
      href={`${fixityPath({ account, bucket, task, result: filter })}#objects`}
      aria-current={filter === current ? "true" : undefined}
    >
      {filterWords(filter)} {formatCount(objects)}
    </a>
  );
  const hasKinds = kinds.length > 1;
  if (choices.length < 2 && !hasKinds) return null;
  return (
    <nav class="row-filters" aria-label={FIXITY_LABELS.filter}>
      {choices.map(link)}
      {hasKinds && <span class="kinds">{kinds.map(link)}</span>}
    </nav>
  );
}

interface FixityRowsProps {
  readonly account: string;
  readonly bucket: string;
  readonly rows: readonly ReportRow[];
}

/** Objects of a report with their results. */
export function FixityRows({ account, bucket, rows }: FixityRowsProps) {
  return (
    <section class="records" aria-label={FIXITY_LABELS.objects}>
      <table>
        <thead>
          <tr>
            <th scope="col">{FIXITY_LABELS.object}</th>
            <th scope="col" class="state">{FIXITY_LABELS.result}</th>
            <th scope="col" class="proof">{FIXITY_LABELS.comparedWith}</th>
            <th scope="col" class="num size">{FIXITY_LABELS.size}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, n) => <Row key={n} account={account} bucket={bucket} row={row} />)}
        </tbody>
      </table>
    </section>
  );
}

const TONES: Readonly<Record<FixityResult, "bad" | "idle" | "done">> = {
  changed: "bad",
  missing: "bad",
  unreadable: "bad",
  unproven: "idle",
  not_in_manifest: "idle",
  deleted: "idle",
  intact: "done",
};

/** Results of objects that do not exist, so that they have no link. */
const GONE: readonly FixityResult[] = ["missing", "deleted"];

function Row({ account, bucket, row }: { readonly account: string; readonly bucket: string; readonly row: ReportRow }) {
  const { key, version_id: version, result, proved_by, size, algorithm, expected, actual, sha256 } = row;
  const detail = codedText(row, "detail", ALL_SENTENCES);
  const name = <KeyName name={key} />;
  const digests = [
    ...expected === undefined ? [] : [[`${algorithm ?? ""} ${FIXITY_LABELS.expected}`, expected]],
    ...actual === undefined ? [] : [[`${algorithm ?? ""} ${FIXITY_LABELS.actual}`, actual]],
    ...sha256 === undefined ? [] : [["sha256", sha256]],
  ];
  return (
    <tr>
      <th scope="row">
        {GONE.includes(result) ? name : <a href={objectPath({ account, bucket, key, version })}>{name}</a>}
        {version !== undefined && <p class="sub vid">{FIXITY_SENTENCES.versionOf(version)}</p>}
        {detail !== "" && <p class="sub">{detail}</p>}
        {digests.length > 0 && (
          <details>
            <summary>{FIXITY_LABELS.digests}</summary>
            <dl class="vid">
              {digests.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </th>
      <td class="state">
        <Chip text={RESULT_WORDS[result]} tone={TONES[result]} />
      </td>
      <td class={proved_by ? "proof" : "proof unknown"}>
        {proved_by ? `${PROOF_WORDS[proved_by]}${algorithm ? ` (${algorithm})` : ""}` : STORAGE_LABELS.unknown}
      </td>
      <td class={size === undefined ? "num size unknown" : "num size"}>
        {size === undefined ? STORAGE_LABELS.unknown : formatBytes(size)}
      </td>
    </tr>
  );
}
