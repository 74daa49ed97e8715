import type { ComponentProps } from "preact";
import { KeyName } from "@/components/storage/key_name.tsx";
import { ObjectPreview } from "@/components/storage/object_preview.tsx";
import { FolderPath, IncompleteAddress } from "@/components/storage/storage_frame.tsx";
import AltoViewer from "@/islands/alto_viewer.tsx";
import StorageFacts from "@/islands/storage_facts.tsx";
import StorageObjectActions from "@/islands/storage_object_actions.tsx";
import StorageShare from "@/islands/storage_share.tsx";
import StorageTags from "@/islands/storage_tags.tsx";
import StorageVersions from "@/islands/storage_versions.tsx";
import type { RawTarget } from "@/lib/http/request_context.ts";
import { decidingType, fileKind, previewKind } from "@/lib/pages/storage/file_kinds.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { fitsUrl, folderOf, nameIn, plainName } from "@/lib/pages/storage/key_names.ts";
import { type ObjectFacts, readObjectFacts } from "@/lib/pages/storage/object_facts.ts";
import { OBJECT_LABELS, OBJECT_SENTENCES, SHARE_SENTENCES } from "@/lib/pages/storage/object_sentences.ts";
import type { ObjectTag } from "@/lib/pages/storage/typed_tags.ts";
import { IMAGE_HEAD_BYTES, imageSize, tiffSize } from "@/lib/pages/storage/preview/image_size.ts";
import {
  type ObjectPreview as Preview,
  PREVIEW_BYTES,
  textPreview,
} from "@/lib/pages/storage/preview/object_preview.ts";
import { downloadPath, type ObjectAddress, objectPath } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import type { VersionPage } from "@/components/storage/object_versions.tsx";
import { defineStorage, type StorageState } from "@/lib/site/state.ts";
import { gatewayTarget } from "@/lib/auth/storage_api_path.ts";
import type { BucketRights } from "@/lib/auth/login_facts.ts";
import { readObjectPart } from "@/lib/auth/storage_gateway.ts";
import type { StorageGateway } from "@/lib/auth/storage_gateway.ts";
import { LoginEnded, statusWithout, type StorageVisit } from "@/lib/site/storage/storage_visit.ts";

/** Statuses of a request for an object whose login the store accepted. */
const ACCEPTED: ReadonlySet<number> = new Set([200, 404]);

/** `/storage/object`: the facts about an object or one version of it, its content, and its download. */
export const handler = defineStorage.handlers({
  async GET({ state }) {
    const { visit } = state;
    const { query, account } = visit;
    const address: ObjectAddress = {
      account,
      bucket: query.get("bucket") ?? "",
      key: query.get("key") ?? "",
      version: query.get("version") ?? undefined,
    };
    if (address.bucket === "" || address.key === "") {
      return await visit.page({ lacks: address.bucket === "" ? "bucket" : "key" } as const, 400);
    }
    const folder = folderOf(address.key);
    const name = nameIn(folder, address.key);
    state.title = `${plainName(name)} · ${STORAGE_LABELS.storage}`;
    const read = await readObject(state, address, name);
    return await visit.page({ address, folder, name, ...read }, statusWithout(read.status));
  },
});

/** An object, its facts and its versions; `object` is null where it cannot be shown. */
async function readObject({ visit, storage }: StorageState, address: ObjectAddress, name: string) {
  const { gateway, facts } = storage;
  const { login, context } = visit;
  const [path, parameters] = downloadPath(address).split("?", 2);
  const target = gatewayTarget({ path, query: parameters });
  if (target === null) return { status: 404, history: 404, object: null };
  const head = gateway.head(target, login, context);
  const [response, history, found] = await Promise.all([
    head,
    loadVersions(visit, address),
    head.then(({ status }) => ACCEPTED.has(status) ? facts.rights(login, address.bucket, context) : null),
  ]);
  const { status } = response;
  if (status === 401) throw new LoginEnded();
  if (status !== 200 || found === null) return { status, history, object: null, found };
  const known = readObjectFacts(response.headers);
  const [preview, tags] = await Promise.all([
    loadPreview(gateway, visit, target, name, known),
    loadTags(visit, address),
  ]);
  return { status, history, object: { facts: known, preview, tags }, found };
}

export default defineStorage.page<typeof handler>(function ObjectOrVersion({ data, state }) {
  const { account, accounts } = state.visit;
  if ("lacks" in data) return <IncompleteAddress account={account} accounts={accounts} lacks={data.lacks} />;
  const { address, folder, name, status, history, object, found } = data;
  const versions = {
    address,
    history,
    isText: object?.preview.kind === "text" || object?.preview.kind === "table",
    canRestore: found?.write ?? false,
    renderedAt: state.now(),
  };
  return (
    <div class="files">
      <FolderPath account={account} accounts={accounts} bucket={address.bucket} prefix={`${folder}${name}`} />
      <div class="head">
        <h1 class="vid">
          <KeyName name={name} />
        </h1>
      </div>
      {object && found
        ? <Found address={address} name={name} {...object} found={found} versions={versions} />
        : <Missing status={status} versions={versions} />}
    </div>
  );
});

/** In place of an object: why it cannot be shown, or the versions of a deleted one. */
function Missing({ status, versions }: { readonly status: number; readonly versions: VersionsProps }) {
  const { address, history } = versions;
  const isDeleted = typeof history !== "number" &&
    history.versions.some(({ IsLatest, IsDeleteMarker }) => IsLatest && IsDeleteMarker);
  if (!isDeleted || address.version !== undefined) return <p class="banner bad">{storageProblem(status, "object")}</p>;
  return (
    <>
      <p class="banner">{OBJECT_SENTENCES.marker}</p>
      <div class="object">
        <div class="about">
          <Versions {...versions} />
        </div>
      </div>
    </>
  );
}

interface FoundProps extends ShareProps {
  readonly preview: Preview;
  readonly tags: readonly ObjectTag[] | null;
  readonly found: BucketRights;
  readonly versions: VersionsProps;
}

function Found({ address, name, facts, preview, tags, found, versions }: FoundProps) {
  const isCurrent = address.version === undefined;
  return (
    <>
      {!isCurrent && (
        <p class="banner">
          {OBJECT_SENTENCES.oldVersion}{" "}
          <a href={objectPath({ ...address, version: undefined })}>{OBJECT_LABELS.toCurrent}</a>
        </p>
      )}
      <div class="object">
        <div class="first">
          <StorageFacts address={address} facts={facts} renderedAt={versions.renderedAt} />
          {isCurrent && <StorageObjectActions address={address} bytes={facts.bytes} found={found} />}
        </div>
        <section class="inside" aria-label={OBJECT_LABELS.content}>
          <Content address={address} name={plainName(name)} preview={preview} />
        </section>
        <div class="about">
          {isCurrent && <Share address={address} name={name} facts={facts} />}
          <Versions {...versions} />
          {tags !== null && (
            <section>
              <h2>{OBJECT_LABELS.tags}</h2>
              <StorageTags address={address} tags={tags} canChange={found.write} />
            </section>
          )}
        </div>
      </div>
    </>
  );
}

/** The viewer of a page's text stands before its file, which readers without scripts can open as well. */
function Content(props: ComponentProps<typeof ObjectPreview>) {
  const { address, preview } = props;
  if (preview.kind !== "text" || preview.viewer !== "alto") return <ObjectPreview {...props} />;
  return (
    <>
      <AltoViewer src={downloadPath(address)} campaign={null} hasSession />
      <details>
        <summary>{OBJECT_LABELS.asText}</summary>
        <ObjectPreview {...props} />
      </details>
    </>
  );
}

interface ShareProps {
  readonly address: ObjectAddress;
  readonly name: string;
  readonly facts: ObjectFacts;
}

/** A login that may read an object may share it. */
function Share({ address: { account, bucket, key }, name, facts: { bytes, type } }: ShareProps) {
  const kind = [fileKind(name) || type, formatBytes(bytes)].filter((part) => part !== "").join(", ");
  return (
    <section>
      <h2>{OBJECT_LABELS.share}</h2>
      {fitsUrl(key)
        ? <StorageShare shared={{ account, bucket, key, name, kind }} />
        : <p class="remark">{SHARE_SENTENCES.noLink}</p>}
    </section>
  );
}

type VersionsProps = Omit<ComponentProps<typeof StorageVersions>, "page"> & { readonly history: VersionPage | number };

/** Whether a list of versions says more than that there is one object. */
function hasHistory({ versions }: VersionPage): boolean {
  return versions.length > 1 ||
    versions.some(({ VersionId, IsDeleteMarker }) => IsDeleteMarker || (VersionId !== null && VersionId !== "null"));
}

/** Nothing where the store has no versions, or only this one. */
function Versions({ history, ...props }: VersionsProps) {
  if (history !== 403 && (typeof history === "number" || !hasHistory(history))) return null;
  return (
    <section>
      <h2>{OBJECT_LABELS.versions}</h2>
      {typeof history === "number"
        ? <p class="remark">{OBJECT_SENTENCES.noVersionRights}</p>
        : <StorageVersions {...props} page={history} />}
    </section>
  );
}

/** Versions that a page lists. */
const PAGE_VERSIONS = 200;

/** The preview of an object's content: the first bytes of a text, the size of an image. */
async function loadPreview(
  gateway: StorageGateway,
  { login, context }: StorageVisit,
  target: RawTarget,
  name: string,
  { bytes, type, encoding }: ObjectFacts,
): Promise<Preview> {
  const read = (from: number, length: number) => readObjectPart(gateway, target, login, { from, length }, context);
  const readAny = async (from: number, length: number) => await read(from, length) ?? new Uint8Array();
  const kind = previewKind(name, type);
  if (kind === null) return { kind: "none", reason: "unknown" };
  if (bytes === 0) return { kind: "none", reason: "empty" };
  switch (kind) {
    case "image":
      return { kind, size: imageSize(await readAny(0, IMAGE_HEAD_BYTES)) };
    case "tiff":
      return { kind: "hidden image", format: "TIFF", size: await tiffSize(readAny) };
    case "jp2":
      return { kind: "hidden image", format: "JPEG 2000", size: imageSize(await readAny(0, IMAGE_HEAD_BYTES)) };
    case "text":
    case "json":
    case "csv": {
      if (encoding !== null) return { kind: "none", reason: "encoded" };
      const beginning = await read(0, PREVIEW_BYTES);
      if (beginning === null) return { kind: "none", reason: "unreadable" };
      return textPreview(beginning, kind, bytes > beginning.length) ?? { kind: "not text", type: decidingType(type) };
    }
    default:
      return { kind };
  }
}

/** The versions of an object; a status where the store lists none: 403, 404, 501 … */
async function loadVersions(visit: StorageVisit, { bucket, key }: ObjectAddress): Promise<VersionPage | number> {
  const path = `/buckets/${encodeURIComponent(bucket)}/versions/${encodeURIComponent(key)}?max_keys=${PAGE_VERSIONS}`;
  const { status, found } = await visit.read<VersionPage>(path);
  if (found === null) return status;
  // The page needs no more of them.
  const versions = found.versions.map(({ VersionId, IsLatest, IsDeleteMarker, LastModified, Size }) => (
    { VersionId, IsLatest, IsDeleteMarker, LastModified, Size }
  ));
  return { versions, is_truncated: found.is_truncated };
}

/** The tags of an object or a version of it, by name; null where the login may not read them, or the store has none. */
async function loadTags(
  visit: StorageVisit,
  { bucket, key, version }: ObjectAddress,
): Promise<readonly ObjectTag[] | null> {
  const query = version === undefined ? "" : `?version_id=${encodeURIComponent(version)}`;
  const path = `/buckets/${encodeURIComponent(bucket)}/tags/${encodeURIComponent(key)}${query}`;
  const { found } = await visit.read<{ readonly tags: Readonly<Record<string, string>> }>(path);
  return found && Object.entries(found.tags).sort(([a], [b]) => a < b ? -1 : 1);
}
