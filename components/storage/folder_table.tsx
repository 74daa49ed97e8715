import type { RefObject } from "preact";
import { Moment } from "@/components/moment.tsx";
import type { MomentStyle } from "@/lib/pages/moments.ts";
import { fileGroup, fileKind } from "@/lib/pages/storage/file_kinds.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { nameIn, plainName } from "@/lib/pages/storage/key_names.ts";
import type { FolderColumn, FolderOrder, StorageRow } from "@/lib/pages/storage/folder_listing.ts";
import { type FolderAddress, folderPath, objectPath } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import { KeyName } from "./key_name.tsx";

/** Events of the table, by the key of the row. */
export interface FolderTableEvents {
  onSelect(key: string, isRange: boolean): void;
  onSelectAll(): void;
  onSort(column: FolderColumn): void;
  /** A click on an object's name. @returns whether it is done: the browser then does not follow the link */
  onOpen(key: string): boolean;
}

interface FolderTableProps {
  readonly folder: FolderAddress;
  readonly rows: readonly StorageRow[];
  /** Rows that are drawn, and the height of each, px; null: all. */
  readonly span: { readonly first: number; readonly last: number; readonly height: number } | null;
  readonly body: RefObject<HTMLTableSectionElement | null>;
  readonly order: FolderOrder;
  readonly selected: Pick<ReadonlySet<string>, "has" | "size">;
  /** Whether all rows are selected. */
  readonly isAllSelected: boolean;
  /** The key of the object that is open in the panel; null: none. */
  readonly opened: string | null;
  /** The row whose controls the Tab key reaches; null: those of all rows. */
  readonly stop: number | null;
  readonly isMore: boolean;
  readonly style: MomentStyle;
  readonly events: FolderTableEvents;
}

/** The folders and objects of a folder. All rows have one height, so that those out of sight can be left out. */
export function FolderTable(props: FolderTableProps) {
  const { rows, span, body, order, selected, isAllSelected, isMore, events } = props;
  const height = span?.height ?? 0;
  const last = Math.min(span?.last ?? Infinity, rows.length);
  const first = Math.min(span?.first ?? 0, last);
  const drawn = rows.slice(first, last);
  return (
    <table aria-rowcount={isMore ? -1 : rows.length + 1}>
      <caption class="sr">{STORAGE_LABELS.rowOrder}</caption>
      <thead>
        <tr aria-rowindex={1}>
          <th scope="col" class="check">
            <input
              type="checkbox"
              class="needs-scripts"
              aria-label={STORAGE_LABELS.selectAll}
              checked={isAllSelected}
              ref={(box) => {
                if (box) box.indeterminate = selected.size > 0 && !isAllSelected;
              }}
              onChange={events.onSelectAll}
            />
          </th>
          <Column column="name" order={order} onSort={events.onSort} />
          <th scope="col" class="kind">{STORAGE_LABELS.kind}</th>
          <Column column="size" order={order} onSort={events.onSort} />
          <Column column="changed" order={order} onSort={events.onSort} />
        </tr>
      </thead>
      <tbody ref={body}>
        {first > 0 && <LeftOut key="above" height={first * height} />}
        {drawn.map((row, index) => <Row key={row.key} {...props} row={row} index={first + index} />)}
        {last < rows.length && <LeftOut key="below" height={(rows.length - last) * height} />}
      </tbody>
    </table>
  );
}

/** The rows that are out of sight. */
function LeftOut({ height }: { height: number }) {
  return (
    <tr class="unseen" aria-hidden="true">
      <td colSpan={5} style={{ height: `${height}px` }} />
    </tr>
  );
}

interface ColumnProps {
  readonly column: FolderColumn;
  readonly order: FolderOrder;
  onSort(column: FolderColumn): void;
}

function Column({ column, order, onSort }: ColumnProps) {
  const isSorted = order.by === column;
  const label = STORAGE_LABELS[column];
  return (
    <th
      scope="col"
      class={column === "name" ? undefined : `num ${column}`}
      aria-sort={isSorted ? (order.isDescending ? "descending" : "ascending") : undefined}
    >
      <span class="without-scripts">{label}</span>
      <button type="button" class="sort" onClick={() => onSort(column)}>
        {label} <span aria-hidden="true">{isSorted ? (order.isDescending ? "↓" : "↑") : ""}</span>
      </button>
    </th>
  );
}

interface RowProps extends FolderTableProps {
  readonly row: StorageRow;
  readonly index: number;
}

function Row({ row, index, folder, selected, opened, stop, style, events }: RowProps) {
  const { account, bucket, prefix } = folder;
  const { key } = row;
  const name = nameIn(prefix, key);
  const isFolder = row.kind === "folder";
  const isSelected = selected.has(key);
  const isOpen = key === opened;
  // Without scripts every link has a stop of the Tab key, and nothing can be selected.
  const isAwake = stop !== null;
  const tabIndex = isAwake ? stop === index ? 0 : -1 : undefined;
  const label = isAwake ? plainName(name) : "";
  return (
    <tr data-row={index} aria-rowindex={index + 2} class={rowClass(isFolder, isSelected, isOpen)}>
      <td class="check">
        {isAwake && (
          <input
            type="checkbox"
            aria-label={STORAGE_LABELS.select(label)}
            checked={isSelected}
            tabIndex={tabIndex}
            onClick={(event) => events.onSelect(key, event.shiftKey)}
          />
        )}
      </td>
      <th scope="row">
        <a
          class="entry"
          href={isFolder ? folderPath({ account, bucket, prefix: key }) : objectPath({ account, bucket, key })}
          title={isAwake ? label : undefined}
          tabIndex={tabIndex}
          aria-current={isOpen ? "true" : undefined}
          onClick={(event) => {
            const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
            if (isPlain && !isFolder && events.onOpen(key)) event.preventDefault();
          }}
        >
          <i class={`kind-icon ${isFolder ? "folder" : fileGroup(name)}`} />
          <KeyName name={name} />
        </a>
      </th>
      <td class="kind">{isFolder ? STORAGE_LABELS.folder : fileKind(name)}</td>
      <td class="num size">{isFolder ? "" : formatBytes(row.size)}</td>
      <td class="num changed">{row.changed !== null && <Moment at={row.changed} style={style} />}</td>
    </tr>
  );
}

function rowClass(isFolder: boolean, isSelected: boolean, isOpen: boolean): string | undefined {
  return [isFolder && "folder-row", isSelected && "on", isOpen && "open"].filter(Boolean).join(" ") || undefined;
}
