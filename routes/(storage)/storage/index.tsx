import { BucketForm } from "@/components/storage/bucket_form.tsx";
import { StorageSection } from "@/components/storage/storage_frame.tsx";
import StorageBuckets from "@/islands/storage_buckets.tsx";
import { STORAGE_LABELS, STORAGE_SENTENCES, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import type { BucketList } from "@/lib/s3/buckets.ts";
import { defineStorage, type StorageState } from "@/lib/site/state.ts";
import { statusWithout } from "@/lib/site/storage/storage_visit.ts";

/** `/storage`: the buckets that a login may see. */
export const handler = defineStorage.handlers({
  async GET({ state, info }) {
    const { visit, storage } = state;
    state.title = STORAGE_LABELS.buckets;
    const isSystem = visit.login.tenant === null && (await storage.gateway.storeKind(info)).hasTenants;
    if (isSystem) return await visit.page({ status: null, buckets: null });
    const { status, buckets } = await listBuckets(state);
    return await visit.page({ status, buckets }, statusWithout(status));
  },
});

async function listBuckets({ visit, storage }: StorageState) {
  const { status, found } = await visit.read<BucketList>("/buckets");
  if (found === null || found.buckets.length === 0) return { status, buckets: found && [] };
  const usages = await storage.facts.usage(visit.login, found.buckets.map(({ Name }) => Name), visit.context);
  return { status, buckets: found.buckets.map((bucket) => ({ ...bucket, usage: usages.get(bucket.Name) ?? null })) };
}

export default defineStorage.page<typeof handler>(function Buckets({ data: { status, buckets }, state }) {
  const { account, accounts } = state.visit;
  return (
    <StorageSection account={account} accounts={accounts} steps="none" title={STORAGE_LABELS.buckets}>
      {status === null
        ? <p class="empty">{STORAGE_SENTENCES.systemLevel}</p>
        : status === 403
        ? <BucketField account={account} why={storageProblem(status, "buckets")} />
        : buckets === null
        ? <p class="banner bad">{storageProblem(status, "buckets")}</p>
        : buckets.length === 0
        ? <BucketField account={account} why={STORAGE_SENTENCES.noBuckets} />
        : <StorageBuckets account={account} buckets={buckets} renderedAt={state.now()} />}
    </StorageSection>
  );
});

/** Opens a bucket that is not listed. */
function BucketField({ account, why }: { readonly account: string; readonly why: string }) {
  return (
    <>
      <p class="remark">{why} {STORAGE_SENTENCES.opensByName}</p>
      <BucketForm
        class="bucket-field"
        action="/storage/folder"
        account={account}
        name="bucket"
        label={STORAGE_LABELS.bucketName}
        button={{ class: "btn primary", children: STORAGE_LABELS.openBucket }}
      />
    </>
  );
}
