import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { trpc } from '../../api/trpc.ts'
import { Note } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { LoadError } from '../../parts/load-error.tsx'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { useUrlFilters } from '../../parts/table/use-url-filters.ts'
import { SystemPage } from '../system/system-page.tsx'
import { AUDIT_FILTERS, AuditFilters, auditInput } from './audit-filters.tsx'
import { AuditTable } from './audit-table.tsx'

/** The audit log of the whole installation, and whether it is intact. */
export function AuditPage() {
  const { filters, set } = useUrlFilters(AUDIT_FILTERS)
  const pages = useCursorPages()
  const input = { ...auditInput(filters), cursor: pages.cursor }
  const rows = useQuery(trpc.audit.listAll.queryOptions(input, { placeholderData: keepPreviousData }))
  const verdict = useQuery(trpc.audit.verify.queryOptions({}, { enabled: false }))
  const verify = (
    <Button variant="default" loading={verdict.isFetching} onClick={() => void verdict.refetch()}>
      Verify integrity
    </Button>
  )
  return (
    <SystemPage section="audit" actions={verify}>
      {verdict.error === null ? null : <LoadError what="the result" error={verdict.error} />}
      {verdict.data === undefined ? null : <Verdict verdict={verdict.data} />}
      <AuditFilters filters={filters} set={set} />
      <AuditTable query={rows} page={rows.data} pages={pages} />
    </SystemPage>
  )
}

interface VerdictProps {
  readonly verdict: {
    readonly intact: boolean
    readonly complete: boolean
    readonly checked: number
    readonly total: number
    readonly firstBreak: { readonly words: string } | null
    readonly head: { readonly seq: number; readonly hash: string } | null
    readonly waiting: number
    readonly answered: readonly {
      readonly seq: number
      readonly words: string
      readonly by: string
      readonly reason: string
    }[]
  }
}

function Verdict({ verdict: { intact, complete, checked, total, firstBreak, head, waiting, answered } }: VerdictProps) {
  return (
    <div role="status">
      <Note tone={intact ? 'paid' : 'danger'}>
        <p>
          {intact
            ? complete
              ? `Audit log intact: ${checked} entries verified.`
              : `${checked} of ${total} entries verified, no change found. The maintenance process verifies the others; check again later.`
            : `The audit log does not verify. ${firstBreak?.words ?? ''}`}
        </p>
        {waiting === 0 ? null : <p>{waiting} entries are not chained yet. This takes seconds.</p>}
        {intact ? null : (
          <p>Follow the runbook (AuditLogBroken), then answer it with paymesh audit acknowledge-break.</p>
        )}
        {answered.map(({ seq, words, by, reason }) => (
          <p key={`${seq} ${words} ${reason}`} className="pm-small">
            Answered by {by}: {words} Reason: {reason}
          </p>
        ))}
        {head === null ? null : (
          <p className="pm-small">
            Store this checksum elsewhere to detect truncation: {head.seq}{' '}
            <CopyText text={head.hash} what="hash" short />
          </p>
        )}
      </Note>
    </div>
  )
}
