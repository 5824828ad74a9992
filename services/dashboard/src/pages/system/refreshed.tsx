import { Time } from '../../parts/time.tsx'

/** Nothing announces changes of the installation: its pages ask this often while they are looked at. */
export const LOOK_EVERY_MS = 3_000

/** When what is shown was true. */
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
