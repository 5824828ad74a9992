import { useNetwork } from '@mantine/hooks'
import { IconWifiOff } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { showTime } from '../format/time.ts'
import { ZONE } from '../parts/time.tsx'

/** Shows since when the page's data is outdated. It blocks nothing on the page. */
export function OfflineNote() {
  const { online } = useNetwork()
  const [since, setSince] = useState<number | null>(null)
  useEffect(() => setSince(online ? null : Date.now()), [online])
  if (since === null) return null
  return (
    <div className="pm-offline" role="status">
      <IconWifiOff size={16} aria-hidden />
      You’re offline. Showing data from {showTime(since, { zone: ZONE, now: since })}.
    </div>
  )
}
