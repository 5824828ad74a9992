import './theme/components.css'
import '#shared/styles/tokens.css'
import '#shared/styles/access.css'
import '#shared/styles/marks.css'
import './theme/frame.css'
import './theme/overview.css'
import './theme/parts.css'
import { requestFirst } from './first/first-reads.ts'

// This file is small and runs before the others have arrived: the data is on its way while they load.
requestFirst(window.location)
void import('./main.tsx')
