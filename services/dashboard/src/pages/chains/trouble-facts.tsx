import { showCount } from '../../format/amounts.ts'
import { Facts } from '../../parts/card.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { Time } from '../../parts/time.tsx'
import type { Chain } from './chain-badge.tsx'

/** The failure that keeps the next block from being read: which block, which call, at which node, why, and for how long. */
export function TroubleFacts({ trouble }: { readonly trouble: NonNullable<Chain['trouble']> }) {
  const { height, method, reason, host, firstAt, lastAt, tries } = trouble
  return (
    <section>
      <h3>What fails</h3>
      <Facts
        facts={[
          ['Block', showCount(height)],
          ['Method', <Name key="method" text={method} />],
          ['Node', <Name key="node" text={host} />],
          ['Cause', <ForeignText key="cause">{reason}</ForeignText>],
          ['Since', <Time key="since" at={firstAt} detail />],
          ['Last try', <Time key="last" at={lastAt} detail />],
          ['Tries', `${showCount(tries)} or more`],
        ]}
      />
    </section>
  )
}

function Name({ text }: { readonly text: string | null }) {
  return text === null ? <span className="pm-dim">–</span> : <ForeignText mono>{text}</ForeignText>
}
