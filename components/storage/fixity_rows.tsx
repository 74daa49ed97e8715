import { Chip } from "@/components/chip.tsx";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import {
  damageKinds,
  type FilterChoice,
  type FixityCheck,
  type FixityResult,
  type FixityRow,
  type RowFilter,
  rowFilters,
} from "@/lib/presentation/storage/fixity_check.ts";
import { filterWords, FIXITY_LABELS, proofWords, RESULT_WORDS } from "@/lib/presentation/storage/fixity_sentences.ts";
import { FIXITY_SENTENCES } from "@/lib/presentation/storage/fixity_sentences.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { fixityPath, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import { KeyName } from "./key_name.tsx";

interface FixityFiltersProps {
  readonly account: string;
  readonly check: FixityCheck;
  readonly current: RowFilter;
}

/** The choice of which rows are shown: links, so that it works without scripts. */
export function FixityFilters({ account, check, current }: FixityFiltersProps) {
  const { bucket, task } = check;
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
  readonly rows: readonly FixityRow[];
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

function Row({ account, bucket, row }: { readonly account: string; readonly bucket: string; readonly row: FixityRow }) {
  const { key, version, result, provedBy, size, algorithm, expected, actual, sha256, detail } = row;
  const name = <KeyName name={key} />;
  const digests = [
    ...expected === null ? [] : [[`${algorithm ?? ""} ${FIXITY_LABELS.expected}`, expected]],
    ...actual === null ? [] : [[`${algorithm ?? ""} ${FIXITY_LABELS.actual}`, actual]],
    ...sha256 === null ? [] : [["sha256", sha256]],
  ];
  return (
    <tr>
      <th scope="row">
        {GONE.includes(result)
          ? name
          : <a href={objectPath({ account, bucket, key, version: version ?? undefined })}>{name}</a>}
        {version !== null && <p class="sub vid">{FIXITY_SENTENCES.versionOf(version)}</p>}
        {detail !== null && <p class="sub">{detail}</p>}
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
      <td class={provedBy === null ? "proof unknown" : "proof"}>
        {provedBy === null ? STORAGE_LABELS.unknown : `${proofWords(provedBy)}${algorithm ? ` (${algorithm})` : ""}`}
      </td>
      <td class={size === null ? "num size unknown" : "num size"}>
        {size === null ? STORAGE_LABELS.unknown : formatBytes(size)}
      </td>
    </tr>
  );
}
