import { Icon, type IconName } from "@/components/icon.tsx";
import { Moment } from "@/components/moment.tsx";
import type { MomentStyle } from "@/lib/presentation/moments.ts";
import { type FileGroup, fileGroup, fileKind } from "@/lib/presentation/storage/file_kinds.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { nameIn } from "@/lib/presentation/storage/key_names.ts";
import type { StorageRow } from "@/lib/presentation/storage/listing.ts";
import { type FolderAddress, folderPath, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import { KeyName } from "./key_name.tsx";

interface FolderRowProps {
  readonly row: StorageRow;
  readonly folder: FolderAddress;
  readonly style: MomentStyle;
}

/** The cells of a folder or an object in the table of a folder, from its name on. */
export function FolderRowCells({ row, folder, style }: FolderRowProps) {
  const { account, bucket, prefix } = folder;
  const name = nameIn(prefix, row.key);
  const isFolder = row.kind === "folder";
  const path = isFolder
    ? folderPath({ account, bucket, prefix: row.key })
    : objectPath({ account, bucket, key: row.key });
  const changed = row.changed !== null && <Moment at={row.changed} style={style} />;
  return (
    <>
      <th scope="row">
        <div class="name">
          <Icon name={isFolder ? "folder" : ICONS[fileGroup(name)]} />
          <a href={path}>
            <KeyName name={name} />
          </a>
        </div>
        <small>{isFolder ? STORAGE_LABELS.folder : formatBytes(row.size)} {changed}</small>
      </th>
      <td class="kind">{isFolder ? STORAGE_LABELS.folder : fileKind(name)}</td>
      <td class="num size">{isFolder ? "" : formatBytes(row.size)}</td>
      <td class="num changed">{changed}</td>
    </>
  );
}

const ICONS: Readonly<Record<FileGroup, IconName>> = {
  image: "image",
  text: "log",
  data: "manifest",
  sound: "file",
  film: "file",
  archive: "archive",
  other: "file",
};
