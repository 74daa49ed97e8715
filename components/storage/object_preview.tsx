import { PrintedLines } from "@/components/viewer/page_text.tsx";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import { viewerPath } from "@/lib/pages/page_paths.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { OBJECT_LABELS, OBJECT_SENTENCES } from "@/lib/pages/storage/object_sentences.ts";
import type { CsvTable } from "@/lib/pages/storage/preview/csv_table.ts";
import { type ObjectPreview as Preview, PREVIEW_BYTES } from "@/lib/pages/storage/preview/object_preview.ts";
import type { PixelSize } from "@/lib/pages/storage/preview/image_size.ts";
import type { TextBeginning } from "@/lib/pages/storage/preview/text_beginning.ts";
import { downloadPath, type ObjectAddress, shownPath } from "@/lib/pages/storage/storage_paths.ts";

interface ObjectPreviewProps {
  readonly address: ObjectAddress;
  /** The name of the object in its folder. */
  readonly name: string;
  readonly preview: Preview;
}

/** The content of an object. Texts are inserted as text, and everything else is loaded under a policy that runs nothing. */
export function ObjectPreview({ address, name, preview }: ObjectPreviewProps) {
  switch (preview.kind) {
    case "image":
      return (
        <>
          <p class="picture">
            <img src={shownPath(address)} alt={name} width={preview.size?.width} height={preview.size?.height} />
          </p>
          {preview.size !== null && <p class="remark">{sizeSentence(preview.size)}</p>}
        </>
      );
    case "audio":
      return <audio class="sound" controls preload="metadata" src={shownPath(address)} aria-label={name} />;
    case "video":
      return <video class="film" controls preload="metadata" src={shownPath(address)} aria-label={name} />;
    case "pdf":
      return (
        <p>
          <a class="btn" href={shownPath(address)} target="_blank" rel="noopener">{OBJECT_LABELS.openPdf}</a>
        </p>
      );
    case "hidden image":
      return (
        <p class="empty">
          {preview.size === null ? OBJECT_SENTENCES.noImageSize : <strong>{sizeSentence(preview.size)}</strong>}
          <br />
          {OBJECT_SENTENCES.hiddenImage(preview.format)}
        </p>
      );
    case "table":
      return <Table {...preview} />;
    case "text":
      return (
        <>
          {preview.viewer === "manifest" && (
            <p>
              <a class="btn" href={viewerPath(downloadPath(address), null, null)}>{OBJECT_LABELS.openManifest}</a>
            </p>
          )}
          <Remarks
            encoding={preview.encoding}
            remark={preview.isCut ? OBJECT_SENTENCES.firstBytes(formatBytes(PREVIEW_BYTES)) : null}
          />
          <PrintedLines lines={preview.lines} label={OBJECT_LABELS.asText} />
        </>
      );
    case "not text":
      return (
        <p class="empty">
          {preview.type === null ? OBJECT_SENTENCES.binaryByName : OBJECT_SENTENCES.binaryByType(preview.type)}
        </p>
      );
    case "none":
      return <p class="empty">{OBJECT_SENTENCES[preview.reason]}</p>;
  }
}

function sizeSentence({ width, height }: PixelSize): string {
  return OBJECT_SENTENCES.imageSize(formatCount(width), formatCount(height));
}

interface TableProps {
  readonly table: CsvTable;
  readonly encoding: TextBeginning["encoding"];
}

/** Shows the first row as the names of the columns, which it is in most such files. */
function Table({ table: { rows: [head, ...rows], columns, isCut }, encoding }: TableProps) {
  const places = Array.from({ length: columns }, (_, column) => column);
  const remark = isCut ? `${OBJECT_SENTENCES.firstRows(rows.length + 1)} ${OBJECT_SENTENCES.wide(columns)}` : null;
  return (
    <>
      <Remarks encoding={encoding} remark={remark} />
      <div class="values" role="region" aria-label={OBJECT_LABELS.asTable} tabIndex={0}>
        <table>
          <thead>
            <tr>{places.map((column) => <th key={column} scope="col">{head[column] ?? ""}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>{places.map((column) => <td key={column}>{row[column] ?? ""}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Remarks({ encoding, remark }: {
  readonly encoding: TextBeginning["encoding"];
  readonly remark: string | null;
}) {
  const all = [encoding === "UTF-8" ? null : OBJECT_SENTENCES.readAs(encoding), remark].filter((text) => text !== null);
  return all.length === 0 ? null : <p class="remark">{all.join(" ")}</p>;
}
