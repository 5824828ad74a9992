import type { ReactNode } from 'react'
import { Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'

/** The installation sends no change signals: its pages poll at this interval while they are visible. */
export const POLL_EVERY_MS = 3_000

const SECTIONS = { chains: 'Chains', queues: 'Queues', rates: 'Rates', processes: 'Processes', audit: 'Audit log' }

/** A section of the instance admin page; the sections are tabs with their own URLs. */
export function SystemPage(props: {
  readonly section: keyof typeof SECTIONS
  /** Next to the title. */
  readonly beside?: ReactNode
  /** At the right. */
  readonly actions: ReactNode
  readonly children: ReactNode
}) {
  const { section, beside, actions, children } = props
  const tabs = Object.entries(SECTIONS).map(([part, label]) => {
    return { label, to: `/system/${part}`, current: part === section }
  })
  return (
    <Page title="System" documentTitle={SECTIONS[section]} beside={beside} tabs={tabs} actions={actions}>
      <div className="pm-stack">{children}</div>
    </Page>
  )
}

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
