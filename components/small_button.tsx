interface SmallButtonProps {
  readonly label: string;
  readonly onClick: () => void;
}

/** A button among rows or in the line above them. */
export function SmallButton({ label, onClick }: SmallButtonProps) {
  return <button class="btn small" type="button" onClick={onClick}>{label}</button>;
}
