import { FolderPath } from "@/components/storage/folder_path.tsx";
import { ObjectPreview } from "@/components/storage/object_preview.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import AltoViewer from "@/islands/alto_viewer.tsx";
import StorageFacts from "@/islands/storage_facts.tsx";
import StorageObjectActions from "@/islands/storage_object_actions.tsx";
import StorageShare from "@/islands/storage_share.tsx";
import StorageTags from "@/islands/storage_tags.tsx";
import StorageVersions from "@/islands/storage_versions.tsx";
import type { ObjectPreview as Preview } from "@/lib/presentation/storage/preview/object_preview.ts";
import { fileKind } from "@/lib/presentation/storage/file_kinds.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { folderOf, nameIn, plainName } from "@/lib/presentation/storage/key_names.ts";
import { type ObjectFacts, readObjectFacts } from "@/lib/presentation/storage/object_facts.ts";
import { OBJECT_LABELS, OBJECT_SENTENCES } from "@/lib/presentation/storage/object_sentences.ts";
import { SHARE_SENTENCES } from "@/lib/presentation/storage/share_sentences.ts";
import { downloadPath, type ObjectAddress, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS, storageProblem } from "@/lib/presentation/storage/storage_sentences.ts";
import { fitsUrl } from "@/lib/presentation/storage/upload_names.ts";
import { hasHistory, type VersionPage } from "@/lib/presentation/storage/versions.ts";
import { gatewayTarget } from "@/lib/storage/door_path.ts";
import { loadPreview, loadTags, loadVersions } from "./object_content.ts";
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
    loadVersions(gateway, visit, address),
    head.then(({ status }) => ACCEPTED.has(status) ? deps.rights.read(login, address.bucket, context) : null),
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
      history.versions.some(({ isLatest, isMarker }) => isLatest && isMarker);
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
    loadTags(gateway, visit, address),
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

interface ContentProps {
  readonly address: ObjectAddress;
  readonly name: string;
  readonly preview: Preview;
}

/** The viewer of a page's text stands before its file, which readers without scripts can open as well. */
function Content(props: ContentProps) {
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

interface VersionsProps {
  readonly address: ObjectAddress;
  readonly history: VersionPage | number;
  readonly isText: boolean;
  readonly canRestore: boolean;
  /** ms since 1970 */
  readonly renderedAt: number;
}

/** Nothing where the store has no versions, or only this one. */
function Versions({ address, history, isText, canRestore, renderedAt }: VersionsProps) {
  const isForbidden = history === 403;
  if (!isForbidden && (typeof history === "number" || !hasHistory(history))) return null;
  return (
    <section>
      <h2>{OBJECT_LABELS.versions}</h2>
      {typeof history === "number" ? <p class="remark">{OBJECT_SENTENCES.noVersionRights}</p> : (
        <StorageVersions
          address={address}
          page={history}
          isText={isText}
          canRestore={canRestore}
          renderedAt={renderedAt}
        />
      )}
    </section>
  );
}
