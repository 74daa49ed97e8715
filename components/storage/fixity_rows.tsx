import { Chip } from "@/components/chip.tsx";
import { ALL_SENTENCES } from "@/lib/presentation/coded_check_sentences.ts";
import { codedText } from "@/lib/presentation/coded_sentences.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import {
  damageKinds,
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
} from "@/lib/presentation/storage/fixity_check.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { fixityPath, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import type { ReportRow } from "@/lib/tasks/fixity/report.ts";
import { KeyName } from "./key_name.tsx";

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

/** Objects of a report with what became of each. */
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

/** Results of objects that are not there, so that nothing leads to them. */
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
