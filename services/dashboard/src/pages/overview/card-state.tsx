import { Skeleton } from '@mantine/core'
import { Card } from '../../parts/card.tsx'
import { LoadError } from '../../parts/load-error.tsx'
import { useLate } from '../../parts/use-late.ts'
import type { CardQuery } from './answers.ts'

/** A card whose data is loading or failed to load; the other cards are independent. */
export function CardState(props: {
  readonly title: string
  readonly what: string
  readonly query: CardQuery<unknown>
  readonly height: number
}) {
  const late = useLate(props.query.isPending)
  return (
    <Card title={props.title} flush>
      {props.query.isPending ? (
        <div style={{ height: props.height, padding: 16 }} aria-busy="true">
          {late ? <Skeleton height={props.height - 32} /> : null}
        </div>
      ) : (
        <LoadError what={props.what} error={props.query.error} onRetry={() => void props.query.refetch()} />
      )}
    </Card>
  )
}
