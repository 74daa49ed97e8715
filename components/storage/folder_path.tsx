import { foldersOf } from "@/lib/presentation/storage/key_names.ts";
import { folderPath, storagePath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import { KeyName } from "./key_name.tsx";
import { StoragePath } from "./storage_path.tsx";

interface FolderPathProps {
  readonly account: string;
  /** All accounts of this browser. */
  readonly accounts: readonly string[];
  /** "": the path is that of the list of buckets. */
  readonly bucket: string;
  /** Of the folder or the key that the path leads to; its own name is not part of the path. */
  readonly prefix: string;
}

/** The way to a folder or an object: the account, its buckets, the bucket, and each folder around it. */
export function FolderPath({ account, accounts, bucket, prefix }: FolderPathProps) {
  // A bucket's own page ends in the list of buckets.
  const folders = prefix === ""
    ? []
    : [{ name: bucket, prefix: "" }, ...foldersOf(prefix)].filter((folder) => folder.prefix !== prefix);
  const steps = [
    ...bucket === "" ? [] : [{ name: STORAGE_LABELS.buckets, href: storagePath(account) }],
    ...folders.map(({ name, prefix }) => ({
      name: <KeyName name={name} />,
      href: folderPath({ account, bucket, prefix }),
    })),
  ];
  return <StoragePath account={account} accounts={accounts} steps={steps} />;
}
