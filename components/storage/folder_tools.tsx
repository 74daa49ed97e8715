import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Icon, type IconName } from "@/components/icon.tsx";
import { requestedUpload, type UploadChoice } from "@/lib/pages/uploads/chosen_files_client.ts";
import { nameIn } from "@/lib/pages/storage/key_names.ts";
import { type FolderAddress, folderPath } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import { UPLOAD_LABELS } from "@/lib/pages/uploads/upload_sentences.ts";

interface FolderToolsProps {
  /** The folder and what is shown of it. */
  readonly address: Required<Pick<FolderAddress, "account" | "bucket" | "prefix" | "find" | "from">>;
  readonly isMore: boolean;
  /** Shows names of the folder with a prefix, or from a name on. */
  onShow(part: { readonly find: string; readonly from?: string }): void;
  onHelp(): void;
  /** Further actions in the folder. */
  readonly children: ComponentChildren;
}

/** ms without a key press after which the search runs. */
const TYPING_MS = 200;

/** The head of a folder: search, and what can be done in it. Without scripts it is a form. */
export function FolderTools({ address, isMore, onShow, onHelp, children }: FolderToolsProps) {
  const { account, bucket, prefix, find, from } = address;
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    clearTimeout(typing.current);
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? "");
    const name = text("from");
    onShow({ find: text("find"), from: name === "" ? "" : prefix + name });
  };
  const canJump = isMore || from !== "";
  return (
    <form class="tools" method="get" action="/storage/folder" onSubmit={submit}>
      <input type="hidden" name="account" value={account} />
      <input type="hidden" name="bucket" value={bucket} />
      <input type="hidden" name="prefix" value={prefix} />
      <SearchField
        icon="search"
        name="find"
        label={STORAGE_LABELS.find}
        hint={STORAGE_LABELS.findHint}
        value={find}
        onText={(text) => {
          clearTimeout(typing.current);
          typing.current = setTimeout(() => onShow({ find: text }), TYPING_MS);
        }}
      />
      {canJump && (
        <SearchField
          icon="down"
          name="from"
          class="jump"
          label={STORAGE_LABELS.jump}
          hint={STORAGE_LABELS.jumpHint}
          value={nameIn(prefix, from)}
        />
      )}
      {/* A search needs no button where scripts read while one types. */}
      <button class={canJump ? "btn" : "btn without-scripts"} type="submit">{STORAGE_LABELS.show}</button>
      {children}
      {from !== "" && (
        <a class="btn" href={folderPath({ account, bucket, prefix, find, from: "" })}>{STORAGE_LABELS.firstRows}</a>
      )}
      <button class="btn small keys needs-scripts" type="button" onClick={onHelp}>{STORAGE_LABELS.shortcuts}</button>
    </form>
  );
}

interface SearchFieldProps {
  readonly icon: IconName;
  /** The name of its value in the address. */
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** Its first value. */
  readonly value: string;
  readonly class?: string;
  onText?(text: string): void;
}

/** A field for the prefix of names, or for a name. */
function SearchField({ icon, name, label, hint, value, class: own, onText }: SearchFieldProps) {
  return (
    <label class={own ? `field ${own}` : "field"}>
      <Icon name={icon} />
      <span class="sr">{label}</span>
      <input
        type="search"
        name={name}
        defaultValue={value}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onText?.(currentTarget.value)}
      />
    </label>
  );
}

/** Opens the dialog for files, or for a folder, to upload to the folder of the page. */
export function UploadButton({ choice }: { readonly choice: UploadChoice }) {
  return (
    <button
      class={choice === "files" ? "btn primary needs-scripts" : "btn needs-scripts"}
      type="button"
      title={UPLOAD_LABELS.orDrop}
      onClick={() => requestedUpload.value = choice}
    >
      <Icon name={choice === "files" ? "upload" : "folder"} />
      {choice === "files" ? UPLOAD_LABELS.upload : UPLOAD_LABELS.uploadFolder}
    </button>
  );
}
