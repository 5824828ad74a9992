import { Time } from '../../parts/time.tsx'

/** Figures are counted every few seconds; a busy installation takes some minutes. */
const OLD_AFTER_MS = 600_000

/** States that figures do not include the newest changes; nothing while they do. `readAt` is when the page read them. */
export function FiguresAge({ asOf, readAt }: { readonly asOf: number | null; readonly readAt: number }) {
  if (asOf !== null && readAt - asOf < OLD_AFTER_MS) return null
  return (
    <p role="status" className="pm-muted pm-small">
      {asOf === null ? (
        'The invoices of the last months are being counted. Figures are not complete yet.'
      ) : (
        <>
          Figures include changes until <Time at={asOf} />. Check that the maintenance process runs.
        </>
      )}
    </p>
  )
}
