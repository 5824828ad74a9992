import { Skeleton } from '@mantine/core'
import { useLate } from './use-late.ts'

/** Placeholder for a page whose code or data is loading. Shows nothing for 150 ms, so that fast responses do not flicker. */
export function PageSkeleton() {
  const late = useLate(true)
  return (
    <div className="pm-page" aria-busy="true">
      {late ? (
        <>
          <Skeleton height={28} width={220} mb={20} />
          <RowsSkeleton rows={8} />
        </>
      ) : null}
    </div>
  )
}

/** Rows of a table in their final height. */
export function RowsSkeleton({ rows, height = 45 }: { readonly rows: number; readonly height?: number }) {
  return (
    <div className="pm-card" aria-busy="true">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are the same and never move
        <div key={row} className="pm-skeleton-row" style={{ height }}>
          <Skeleton height={10} width={`${90 - ((row * 17) % 40)}%`} />
        </div>
      ))}
    </div>
  )
}
