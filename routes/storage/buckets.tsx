import { StorageSection } from "@/components/storage/storage_frame.tsx";
import StorageBuckets from "@/islands/storage_buckets.tsx";
import type { BucketList } from "@/lib/s3/buckets.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import {
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
        <StorageSection account={account} accounts={accounts} steps="none" title={STORAGE_LABELS.buckets}>
          {body}
        </StorageSection>
      ),
    } satisfies StorageView;
  });
}

async function bucketList({ facts, now }: StoragePageDeps, { context, login, account, read }: StorageVisit) {
  const { status, found } = await read<BucketList>("/buckets");
  const problem = storageProblem(status, "buckets");
  if (status === 403) return { status, body: <BucketField account={account} why={problem} /> };
  if (found === null) return { status, body: <p class="banner bad">{problem}</p> };
  const { buckets } = found;
  if (buckets.length === 0) {
    return { status, body: <BucketField account={account} why={STORAGE_SENTENCES.noBuckets} /> };
  }
  const usages = await facts.usage(login, buckets.map(({ Name }) => Name), context);
  const counted = buckets.map((bucket) => ({ ...bucket, usage: usages.get(bucket.Name) ?? null }));
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
