import { render } from 'preact'

const root = document.getElementById('root')
if (root !== null) render(<main>Paymesh</main>, root)
