import './base.css';
import './controls.css';
import './notices.css';
import './jobs.css';
import './tools.css';
import './files.css';
import './result.css';
