import { FolderPath } from "@/components/storage/folder_path.tsx";
import StorageBuckets from "@/islands/storage_buckets.tsx";
import { readBuckets } from "@/lib/presentation/storage/listing.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES, storageProblem } from "@/lib/presentation/storage/storage_sentences.ts";
import {
  LoginEnded,
  statusWithout,
  storagePage,
  type StoragePageDeps,
  type StorageView,
  type StorageVisit,
} from "./storage_page.tsx";

/** Longest name of a bucket (S3 API), characters. */
const MAX_BUCKET_NAME = 63;

/** `/storage`: the buckets that a login may see. */
export function bucketsPage(deps: StoragePageDeps) {
  return storagePage(deps, async (visit) => {
    const { login, account, accounts } = visit;
    const isSystem = login.tenant === null && (await deps.gateway.storeKind(visit.context)).hasTenants;
    const { status, body } = isSystem
      ? { status: 200, body: <p class="empty">{STORAGE_SENTENCES.systemLevel}</p> }
      : await bucketList(deps, visit);
    return {
      title: STORAGE_LABELS.buckets,
      status: statusWithout(status),
      body: (
        <div class="storage-home">
          <FolderPath account={account} accounts={accounts} bucket="" prefix="" />
          <div class="head">
            <h1>{STORAGE_LABELS.buckets}</h1>
          </div>
          {body}
        </div>
      ),
    } satisfies StorageView;
  });
}

async function bucketList({ gateway, usage, now }: StoragePageDeps, { context, login, account }: StorageVisit) {
  const { status, json } = await gateway.read("/buckets", login, context);
  if (status === 401) throw new LoginEnded();
  const buckets = status === 200 ? readBuckets(json) : null;
  const problem = storageProblem(status, "buckets");
  if (status === 403) return { status, body: <BucketField account={account} why={problem} /> };
  if (buckets === null) return { status, body: <p class="banner bad">{problem}</p> };
  if (buckets.length === 0) {
    return { status, body: <BucketField account={account} why={STORAGE_SENTENCES.noBuckets} /> };
  }
  const usages = await usage.read(login, buckets.map(({ name }) => name), context);
  const counted = buckets.map((bucket) => ({ ...bucket, usage: usages.get(bucket.name) ?? null }));
  const body = <StorageBuckets account={account} buckets={counted} renderedAt={now()} />;
  return { status, body };
}

/** The way to a bucket that no list names. It works without scripts. */
function BucketField({ account, why }: { readonly account: string; readonly why: string }) {
  return (
    <>
      <p class="remark">{why} {STORAGE_SENTENCES.opensByName}</p>
      <form class="bucket-field" action="/storage/folder">
        <input type="hidden" name="account" value={account} />
        <label>
          {STORAGE_LABELS.bucketName}
          <input
            class="vid"
            name="bucket"
            required
            maxLength={MAX_BUCKET_NAME}
            autocapitalize="none"
            spellcheck={false}
          />
        </label>
        <button class="btn primary" type="submit">{STORAGE_LABELS.openBucket}</button>
      </form>
    </>
  );
}
