import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { BaselineField, type BaselineFieldProps } from "@/components/storage/baseline_field.tsx";
import { island } from "@/lib/pages/browser/island.tsx";

/** The choice of an earlier check, which follows the bucket of its form once scripts run. */
export default island("storage_baseline", function StorageBaseline(props: BaselineFieldProps) {
  const bucket = useSignal(props.bucket);
  const select = useRef<HTMLSelectElement>(null);

  useEffect(() => {
    const form = select.current?.form;
    const follow = () => {
      const field = form?.elements.namedItem("bucket");
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) bucket.value = field.value;
    };
    // A browser that returns to the page fills in what was chosen.
    follow();
    form?.addEventListener("input", follow);
    return () => form?.removeEventListener("input", follow);
  }, []);

  return <BaselineField {...props} bucket={bucket.value} select={select} />;
});
