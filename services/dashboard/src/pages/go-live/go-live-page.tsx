import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { trpc } from '../../api/trpc.ts'
import { Note } from '../../parts/card.tsx'
import { OWN_LOAD_WORDS } from '../../parts/own-load-words.ts'
import { Page } from '../../parts/page.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import { LANGUAGE } from '../../words/language.ts'
import { GoLiveItem } from './go-live-item.tsx'
import { words } from './go-live-words.ts'

/** Every check before real money arrives, with its state, reason and remedy. */
export function GoLivePage() {
  const scope = useScope()
  const may = useMay('admin')
  const report = useQuery(trpc.goLive.read.queryOptions(scope, { enabled: may }))
  return (
    <div lang={LANGUAGE}>
      <Page
        title={words.title}
        beside={<span className="pm-muted">{scope.mode === 'live' ? words.live : words.rehearsal}</span>}
        actions={
          may ? (
            <Button loading={report.isFetching} onClick={() => void report.refetch()}>
              {words.check}
            </Button>
          ) : null
        }
      >
        {!may ? (
          <Note tone="new">
            <p>{words.needsAdmin}</p>
          </Note>
        ) : (
          <QueryView query={report} what={words.checks} words={OWN_LOAD_WORDS}>
            {(data) => (
              <div className="pm-stack">
                <Note tone={data.isReady ? 'paid' : 'pending'}>
                  <p>{data.isReady ? words.ready : words.passed(data.passed, data.lines.length)}</p>
                </Note>
                {data.lines.map((line) => (
                  <GoLiveItem key={line.item} line={line} />
                ))}
              </div>
            )}
          </QueryView>
        )}
      </Page>
    </div>
  )
}
