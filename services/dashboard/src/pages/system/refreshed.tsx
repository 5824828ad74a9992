import { Time } from '../../parts/time.tsx'

/** The installation sends no change signals: its pages poll at this interval while they are visible. */
export const POLL_EVERY_MS = 3_000

/** When the displayed data was read. */
export function Refreshed({ at }: { readonly at: number }) {
  return (
    <span className="pm-muted pm-small">
      {at === 0 ? null : (
        <>
          Updated <Time at={at} detail />
        </>
      )}
    </span>
  )
}
