import type { ComponentProps } from "preact";
import { KeyName } from "@/components/storage/key_name.tsx";
import { ObjectPreview } from "@/components/storage/object_preview.tsx";
import { FolderPath } from "@/components/storage/storage_frame.tsx";
import AltoViewer from "@/islands/alto_viewer.tsx";
import StorageFacts from "@/islands/storage_facts.tsx";
import StorageObjectActions from "@/islands/storage_object_actions.tsx";
import StorageShare from "@/islands/storage_share.tsx";
import StorageTags from "@/islands/storage_tags.tsx";
import StorageVersions from "@/islands/storage_versions.tsx";
import type { RawTarget } from "@/lib/http/raw_path.ts";
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
import { gatewayTarget } from "@/lib/auth/storage_api_path.ts";
import { readObjectPart } from "@/lib/auth/object_start.ts";
import type { StorageGateway } from "@/lib/auth/storage_gateway.ts";
import {
  incompleteView,
  LoginEnded,
  statusWithout,
  storagePage,
  type StoragePageDeps,
  type StorageView,
  type StorageVisit,
} from "./storage_page.tsx";

/** Statuses of an object, or of an absent one, that only a store gives which accepts the login. */
const ACCEPTED: ReadonlySet<number> = new Set([200, 404]);

/** `/storage/object`: what is known of an object or of one version of it, what it holds, and its download. */
export function objectPageRoute(deps: StoragePageDeps) {
  return storagePage(deps, async (visit) => {
    const { query, account, accounts } = visit;
    const address: ObjectAddress = {
      account,
      bucket: query.get("bucket") ?? "",
      key: query.get("key") ?? "",
      version: query.get("version") ?? undefined,
    };
    if (address.bucket === "") return incompleteView(visit, "bucket");
    if (address.key === "") return incompleteView(visit, "key");
    const folder = folderOf(address.key);
    const name = nameIn(folder, address.key);
    const { status, body } = await objectBody(deps, visit, address, name);
    return {
      title: `${plainName(name)} · ${STORAGE_LABELS.storage}`,
      status: statusWithout(status),
      body: (
        <div class="files">
          <FolderPath account={account} accounts={accounts} bucket={address.bucket} prefix={`${folder}${name}`} />
          <div class="head">
            <h1 class="vid">
              <KeyName name={name} />
            </h1>
          </div>
          {body}
        </div>
      ),
    } satisfies StorageView;
  });
}

async function objectBody(deps: StoragePageDeps, visit: StorageVisit, address: ObjectAddress, name: string) {
  const { gateway } = deps;
  const { login, context } = visit;
  const [path, parameters] = downloadPath(address).split("?", 2);
  const target = gatewayTarget({ path, query: parameters });
  if (target === null) return { status: 404, body: <p class="banner bad">{storageProblem(404, "object")}</p> };
  const head = gateway.head(target, login, context);
  const [response, history, found] = await Promise.all([
    head,
    loadVersions(visit, address),
    head.then(({ status }) => ACCEPTED.has(status) ? deps.facts.rights(login, address.bucket, context) : null),
  ]);
  const { status } = response;
  if (status === 401) throw new LoginEnded();
  const versions = (isText: boolean) => (
    <Versions
      address={address}
      history={history}
      isText={isText}
      canRestore={found?.write ?? false}
      renderedAt={deps.now()}
    />
  );
  if (status !== 200 || found === null) {
    const isDeleted = typeof history !== "number" &&
      history.versions.some(({ IsLatest, IsDeleteMarker }) => IsLatest && IsDeleteMarker);
    return {
      status,
      body: isDeleted && address.version === undefined
        ? (
          <>
            <p class="banner">{OBJECT_SENTENCES.marker}</p>
            <div class="object">
              <div class="about">{versions(false)}</div>
            </div>
          </>
        )
        : <p class="banner bad">{storageProblem(status, "object")}</p>,
    };
  }
  const facts = readObjectFacts(response.headers);
  const [preview, tags] = await Promise.all([
    loadPreview(gateway, visit, target, name, facts),
    loadTags(visit, address),
  ]);
  return {
    status,
    body: (
      <>
        {address.version !== undefined && (
          <p class="banner">
            {OBJECT_SENTENCES.oldVersion}{" "}
            <a href={objectPath({ ...address, version: undefined })}>{OBJECT_LABELS.toCurrent}</a>
          </p>
        )}
        <div class="object">
          <div class="first">
            <StorageFacts address={address} facts={facts} renderedAt={deps.now()} />
            {address.version === undefined && (
              <StorageObjectActions address={address} bytes={facts.bytes} found={found} />
            )}
          </div>
          <section class="inside" aria-label={OBJECT_LABELS.content}>
            <Content address={address} name={plainName(name)} preview={preview} />
          </section>
          <div class="about">
            {address.version === undefined && <Share address={address} name={name} facts={facts} />}
            {versions(preview.kind === "text" || preview.kind === "table")}
            {tags !== null && (
              <section>
                <h2>{OBJECT_LABELS.tags}</h2>
                <StorageTags address={address} tags={tags} canChange={found.write} />
              </section>
            )}
          </div>
        </div>
      </>
    ),
  };
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

/** The preview of an object's content: the beginning of a text, the size of an image. */
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
async function loadVersions({ read }: StorageVisit, { bucket, key }: ObjectAddress): Promise<VersionPage | number> {
  const path = `/buckets/${encodeURIComponent(bucket)}/versions/${encodeURIComponent(key)}?max_keys=${PAGE_VERSIONS}`;
  const { status, found } = await read<VersionPage>(path);
  if (found === null) return status;
  // The page needs no more of them.
  const versions = found.versions.map(({ VersionId, IsLatest, IsDeleteMarker, LastModified, Size }) => (
    { VersionId, IsLatest, IsDeleteMarker, LastModified, Size }
  ));
  return { versions, is_truncated: found.is_truncated };
}

/** The tags of an object or a version of it, by name; null where the login may not read them, or the store has none. */
async function loadTags(
  { read }: StorageVisit,
  { bucket, key, version }: ObjectAddress,
): Promise<readonly ObjectTag[] | null> {
  const query = version === undefined ? "" : `?version_id=${encodeURIComponent(version)}`;
  const path = `/buckets/${encodeURIComponent(bucket)}/tags/${encodeURIComponent(key)}${query}`;
  const { found } = await read<{ readonly tags: Readonly<Record<string, string>> }>(path);
  return found && Object.entries(found.tags).sort(([a], [b]) => a < b ? -1 : 1);
}
