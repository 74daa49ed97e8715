import { FolderPath } from "@/components/storage/folder_path.tsx";
import { Icon } from "@/components/icon.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import { Moment } from "@/components/moment.tsx";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { folderOf, nameIn, plainName } from "@/lib/presentation/storage/key_names.ts";
import { downloadPath, type ObjectAddress } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS, storageProblem } from "@/lib/presentation/storage/storage_sentences.ts";
import { gatewayTarget } from "@/lib/storage/door_path.ts";
import { LoginEnded, storagePage, type StoragePageDeps, type StorageView } from "./storage_page.tsx";

/** `/storage/object`: what is known of an object, and its download. */
export function objectPageRoute(deps: StoragePageDeps) {
  return storagePage(deps, async ({ context, query, login, account }) => {
    const address: ObjectAddress = {
      account,
      bucket: query.get("bucket") ?? "",
      key: query.get("key") ?? "",
      version: query.get("version") ?? undefined,
    };
    const [path, parameters] = downloadPath(address).split("?", 2);
    const target = gatewayTarget({ path, query: parameters });
    const response = target && await deps.gateway.head(target, login, context);
    if (response?.status === 401) throw new LoginEnded();
    const folder = folderOf(address.key);
    const name = nameIn(folder, address.key);
    const status = response?.status ?? 404;
    return {
      title: `${plainName(name)} · ${STORAGE_LABELS.storage}`,
      status: status === 404 ? 404 : undefined,
      body: (
        <div class="files">
          <FolderPath account={account} bucket={address.bucket} prefix={`${folder}${name}`} />
          <div class="head">
            <h1 class="vid">
              <KeyName name={name} />
            </h1>
          </div>
          {response && status === 200
            ? <ObjectFacts address={address} headers={response.headers} now={deps.now()} />
            : <p class="banner bad">{storageProblem(status, "object")}</p>}
        </div>
      ),
    } satisfies StorageView;
  });
}

interface ObjectFactsProps {
  readonly address: ObjectAddress;
  readonly headers: Headers;
  /** ms since 1970 */
  readonly now: number;
}

function ObjectFacts({ address, headers, now }: ObjectFactsProps) {
  const bytes = Number(headers.get("Content-Length") ?? 0);
  const changed = Date.parse(headers.get("Last-Modified") ?? "");
  const version = headers.get("x-amz-version-id");
  return (
    <>
      <p class="tools">
        <a class="btn primary" href={downloadPath(address)}>
          <Icon name="download" /> {STORAGE_LABELS.download}
        </a>
      </p>
      <dl class="facts">
        <dt>{STORAGE_LABELS.size}</dt>
        <dd>{formatBytes(bytes)} ({formatCount(bytes)} B)</dd>
        <dt>{STORAGE_LABELS.type}</dt>
        <dd>{headers.get("Content-Type") ?? STORAGE_LABELS.unknown}</dd>
        {!Number.isNaN(changed) && (
          <>
            <dt>{STORAGE_LABELS.changed}</dt>
            <dd>
              <Moment at={new Date(changed).toISOString()} style={{ zone: "UTC", now }} />
            </dd>
          </>
        )}
        <dt>{STORAGE_LABELS.checksum}</dt>
        <dd class="vid">{headers.get("ETag") ?? STORAGE_LABELS.unknown}</dd>
        {version !== null && (
          <>
            <dt>{STORAGE_LABELS.version}</dt>
            <dd class="vid">{version}</dd>
          </>
        )}
      </dl>
    </>
  );
}
