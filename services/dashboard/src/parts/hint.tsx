import { type ReactNode, useState } from 'react'
import { useLoaded } from './use-loaded.ts'

/**
 * A sentence shown while the pointer or the focus is on its content, and closed by Esc. Mantine's tooltip, whose code is requested with
 * the first one; the content keeps its element, and with it the focus.
 */
export function Hint({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const [target, setTarget] = useState<HTMLElement | null>(null)
  const [isOpen, setOpen] = useState(false)
  const Tooltip = useLoaded(isOpen, async () => (await import('./loaded-tooltip.ts')).Tooltip)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it shows what its content means and takes no action
    <span
      ref={setTarget}
      onPointerEnter={() => setOpen(true)}
      onPointerLeave={() => setOpen(false)}
      onFocus={() => setOpen(true)}
      onBlur={() => setOpen(false)}
      onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
    >
      {children}
      {Tooltip === null || target === null ? null : <Tooltip target={target} label={label} opened={isOpen} />}
    </span>
  )
}
