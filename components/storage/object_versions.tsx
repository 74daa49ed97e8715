import type { ComponentChildren } from "preact";
import { Moment } from "@/components/moment.tsx";
import type { MomentStyle } from "@/lib/pages/moments.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { OBJECT_LABELS, OBJECT_SENTENCES } from "@/lib/pages/storage/object_sentences.ts";
import { PREVIEW_BYTES } from "@/lib/pages/storage/preview/object_preview.ts";
import { type ObjectAddress, objectPath } from "@/lib/pages/storage/storage_paths.ts";
import type { KeyVersion } from "@/lib/s3/listing.ts";

/** Lines that follow each other and are in both texts, or in one of them. */
export interface LineChange {
  /** Each line with its end; the last one may have none. */
  readonly value: string;
  readonly added?: boolean;
  readonly removed?: boolean;
}

/** A line of two texts beside each other, or how many lines are left out. */
type ComparedLine =
  | { readonly kind: "same"; readonly text: string; readonly before: number; readonly after: number }
  | { readonly kind: "removed"; readonly text: string; readonly before: number; readonly after: null }
  | { readonly kind: "added"; readonly text: string; readonly before: null; readonly after: number }
  | { readonly kind: "left out"; readonly count: number };

/** Two texts, line by line. */
interface LineComparison {
  readonly lines: readonly ComparedLine[];
  readonly added: number;
  readonly removed: number;
  /** There are more changes than are listed. */
  readonly isCut: boolean;
}

/** Lines that are shown around a change. */
const CONTEXT = 3;
const MAX_LINES = 3000;

/** The changes between two texts with a few lines around each; what is equal in between is left out and counted. */
export function comparedLines(changes: readonly LineChange[]): LineComparison {
  const lines: ComparedLine[] = [];
  let [before, after, added, removed] = [1, 1, 0, 0];
  for (const [index, change] of changes.entries()) {
    const texts = linesOf(change.value);
    if (change.removed) {
      for (const text of texts) lines.push({ kind: "removed", text, before: before++, after: null });
      removed += texts.length;
    } else if (change.added) {
      for (const text of texts) lines.push({ kind: "added", text, before: null, after: after++ });
      added += texts.length;
    } else {
      const head = index === 0 ? 0 : CONTEXT;
      const tail = index === changes.length - 1 ? 0 : CONTEXT;
      const count = texts.length - head - tail;
      for (const [place, text] of texts.entries()) {
        const isShown = count <= 1 || place < head || place >= texts.length - tail;
        if (isShown) lines.push({ kind: "same", text, before, after });
        else if (place === head) lines.push({ kind: "left out", count });
        before++;
        after++;
      }
    }
  }
  return { lines: lines.slice(0, MAX_LINES), added, removed, isCut: lines.length > MAX_LINES };
}

function linesOf(value: string): string[] {
  const lines = value.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

/** A version of an object, or a delete marker. */
type ListedVersion = Pick<KeyVersion, "VersionId" | "IsLatest" | "IsDeleteMarker" | "LastModified" | "Size">;

/** A page of the versions of a key, the newest first. */
export interface VersionPage {
  readonly versions: readonly ListedVersion[];
  /** There are older ones. */
  readonly is_truncated: boolean;
}

interface VersionListProps {
  readonly address: ObjectAddress;
  readonly page: VersionPage;
  readonly style: MomentStyle;
  /** Controls of a version that is not the current one. */
  readonly controls?: (version: ListedVersion) => ComponentChildren;
}

/** The versions of an object as a timeline, the newest first. */
export function VersionList({ address, page: { versions, is_truncated }, style, controls }: VersionListProps) {
  return (
    <>
      <ol class="times">
        {versions.map((version) => {
          const { VersionId: id, IsLatest: isLatest, IsDeleteMarker: isMarker, LastModified: changed, Size } = version;
          const isShown = address.version === undefined ? isLatest : address.version === id;
          return (
            <li key={id} aria-current={isShown ? "true" : undefined}>
              <div>
                {isMarker
                  ? isLatest ? OBJECT_LABELS.deletedNow : OBJECT_LABELS.deleted
                  : (
                    <a href={objectPath({ ...address, version: isLatest ? undefined : id ?? undefined })}>
                      {isLatest ? OBJECT_LABELS.current : OBJECT_LABELS.older}
                    </a>
                  )}
                <small>
                  {changed !== null && <Moment at={changed} style={style} />}
                  {!isMarker && ` · ${formatBytes(Size ?? 0)}`}
                  {isShown && !isMarker && ` · ${OBJECT_LABELS.shownHere}`}
                </small>
              </div>
              {!isMarker && !isLatest && id !== null && controls?.(version)}
            </li>
          );
        })}
      </ol>
      {is_truncated && <p class="remark">{OBJECT_SENTENCES.versionsCut}</p>}
    </>
  );
}

interface VersionComparisonProps {
  readonly changes: readonly LineChange[];
  /** Only the first bytes were compared. */
  readonly isCut: boolean;
}

/** The changes between two versions of a text. */
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
