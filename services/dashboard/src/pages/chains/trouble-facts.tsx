import { showCount } from '../../format/amounts.ts'
import { Facts } from '../../parts/card.tsx'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import type { Chain } from './chain-badge.tsx'

/** The failure that prevents reading the next block: block, call, node, reason, and duration. */
export function TroubleFacts({ trouble }: { readonly trouble: NonNullable<Chain['trouble']> }) {
  const { height, method, reason, host, firstAt, lastAt, tries } = trouble
  return (
    <section>
      <h3>Problem</h3>
      <Facts
        facts={[
          ['Block', showCount(height)],
          ['Method', <Name key="method" text={method} />],
          ['Node', <Name key="node" text={host} />],
          ['Cause', <UntrustedText key="cause">{reason}</UntrustedText>],
          ['Since', <Time key="since" at={firstAt} detail />],
          ['Last attempt', <Time key="last" at={lastAt} detail />],
          ['Attempts', `${showCount(tries)} or more`],
        ]}
      />
    </section>
  )
}

function Name({ text }: { readonly text: string | null }) {
  return text === null ? <span className="pm-dim">–</span> : <UntrustedText mono>{text}</UntrustedText>
}
