import { Icon, type IconName } from "./icon.tsx";

interface ToolButtonProps {
  readonly icon: IconName;
  readonly name: string;
  /** The key that does the same, as it is shown. */
  readonly shortcut?: string;
  /** For a button that switches something. */
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

/** A button that shows a drawing and has a name. One that is disabled stays in the order of focus. */
export function ToolButton({ icon, name, shortcut, pressed, disabled = false, onClick }: ToolButtonProps) {
  return (
    <button
      class="btn square"
      type="button"
      aria-label={name}
      title={shortcut === undefined ? name : `${name} (${shortcut})`}
      aria-pressed={pressed}
      aria-disabled={disabled}
      onClick={() => disabled || onClick()}
    >
      <Icon name={icon} />
    </button>
  );
}
