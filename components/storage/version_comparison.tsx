import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { type ComparedLine, comparedLines, type LineChange } from "@/lib/presentation/storage/line_comparison.ts";
import { OBJECT_LABELS, OBJECT_SENTENCES } from "@/lib/presentation/storage/object_sentences.ts";
import { PREVIEW_BYTES } from "@/lib/presentation/storage/preview/object_preview.ts";

interface VersionComparisonProps {
  readonly changes: readonly LineChange[];
  /** Only the beginnings were compared. */
  readonly isCut: boolean;
}

/** What changed between two versions of a text. */
export function VersionComparison({ changes, isCut }: VersionComparisonProps) {
  const comparison = comparedLines(changes);
  const { lines, added, removed } = comparison;
  return (
    <>
      <p class="remark">
        {added + removed === 0 ? OBJECT_SENTENCES.noDifference : OBJECT_SENTENCES.differences(added, removed)}
        {isCut && ` ${OBJECT_SENTENCES.firstCompared(formatBytes(PREVIEW_BYTES))}`}
        {comparison.isCut && ` ${OBJECT_SENTENCES.moreDifferences}`}
      </p>
      {added + removed > 0 && (
        <div class="comparison" role="region" aria-label={OBJECT_LABELS.comparison} tabIndex={0}>
          <table>
            <thead class="sr">
              <tr>
                <th scope="col">{OBJECT_LABELS.lineBefore}</th>
                <th scope="col">{OBJECT_LABELS.lineAfter}</th>
                <th scope="col">{OBJECT_LABELS.change}</th>
                <th scope="col">{OBJECT_LABELS.line}</th>
              </tr>
            </thead>
            <tbody>{lines.map((line, index) => <Line key={index} line={line} />)}</tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Line({ line }: { readonly line: ComparedLine }) {
  if (line.kind === "left out") {
    return (
      <tr class="left-out">
        <td colSpan={4}>{OBJECT_SENTENCES.equalLines(line.count)}</td>
      </tr>
    );
  }
  const { kind, text, before, after } = line;
  return (
    <tr class={kind}>
      <td class="num">{before}</td>
      <td class="num">{after}</td>
      <td>{kind === "added" ? "+" : kind === "removed" ? "−" : ""}</td>
      <td class="line">{text}</td>
    </tr>
  );
}
