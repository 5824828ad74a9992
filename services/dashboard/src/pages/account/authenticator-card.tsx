import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { SESSION_KEY } from '../../api/query-client.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Card, Facts, Note } from '../../parts/card.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { RecoveryCodes } from '../../parts/second-factor/recovery-codes.tsx'
import { Time } from '../../parts/time.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'

const REFRESH = [trpc.auth.pathFilter(), { queryKey: SESSION_KEY }]

/** Sets up, replaces and removes the authenticator, and makes recovery codes. */
export function AuthenticatorCard() {
  const security = useQuery(trpc.auth.security.queryOptions())
  const [isSettingUp, setSettingUp] = useState(false)
  const Enrolment = useLoaded(
    isSettingUp,
    async () => (await import('../../parts/second-factor/enrolment.tsx')).Enrolment,
    () => setSettingUp(false),
  )
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const renew = useAction({
    call: ({ opId }) => api.auth.renewRecoveryCodes.mutate({ opId }),
    onDone: ({ recoveryCodes }) => setCodes(recoveryCodes),
    refresh: REFRESH,
  })
  const remove = useAction({
    call: ({ opId }) => api.auth.removeAuthenticator.mutate({ opId }),
    done: 'Removed. You now log in with your password only.',
    refresh: REFRESH,
  })
  const enrolled = (made: readonly string[]) => {
    setSettingUp(false)
    setCodes(made)
  }
  return (
    <QueryView query={security} what="your authenticator" skeleton={null}>
      {({ authenticatorSince, recoveryCodesLeft }) => (
        <Card title="Authenticator">
          <div className="pm-stack">
            {authenticatorSince === null ? (
              <Note tone="partial">
                <p>
                  Two-factor authentication is off. You need it to change API keys, wallets, webhook endpoints, settings
                  or team members.
                </p>
              </Note>
            ) : (
              <Facts
                facts={[
                  ['Set up', <Time key="since" at={authenticatorSince} />],
                  ['Recovery codes left', recoveryCodesLeft],
                ]}
              />
            )}
            {codes === null ? null : <RecoveryCodes codes={codes} onStored={() => setCodes(null)} />}
            {isSettingUp && Enrolment !== null ? (
              <Enrolment
                isReplacing={authenticatorSince !== null}
                onDone={enrolled}
                onCancel={() => setSettingUp(false)}
              />
            ) : (
              <div className="pm-row">
                <Button onClick={() => setSettingUp(true)}>
                  {authenticatorSince === null ? 'Set up authenticator' : 'Replace authenticator'}
                </Button>
                {authenticatorSince === null ? null : (
                  <>
                    <ActionButton
                      action={renew}
                      input={undefined}
                      variant="default"
                      confirm={<p>Your old codes stop working.</p>}
                    >
                      Create new recovery codes
                    </ActionButton>
                    <ActionButton
                      action={remove}
                      input={undefined}
                      variant="default"
                      color="red"
                      confirm={
                        <p>
                          This logs you out everywhere else, and you can no longer change anything that needs a code.
                        </p>
                      }
                    >
                      Remove authenticator
                    </ActionButton>
                  </>
                )}
              </div>
            )}
          </div>
        </Card>
      )}
    </QueryView>
  )
}
