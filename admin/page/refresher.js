// Reads something again when it may have changed, and not too often.

// A read that takes long takes the broker's time: reads have at most a fifth of it.
const PAUSE_PER_READ = 4;

/** Calls an asynchronous function after `ask()`: one call at a time, and each at least `pauseMs` after the last one. */
export class Refresher {
  /**
   * read(isStopped): what is called; a long one asks isStopped() whether its result is still wanted.
   * onError(error): called when a read fails; the next one is tried as usual.
   * pausePerRead: how much longer than a read the pause after it is.
   */
  constructor(read, pauseMs, onError, pausePerRead = PAUSE_PER_READ) {
    this.read = read;
    this.pauseMs = pauseMs;
    this.onError = onError;
    this.pausePerRead = pausePerRead;
    this.isReading = false;
    // Whether to read after the pause, or right after the current read.
    this.isDue = false;
    this.isUrgent = false;
    this.timer = null;
    this.isStopped = false;
  }

  /** Read as soon as the pause allows. */
  ask() {
    this.isDue = true;
    if (!this.isReading && this.timer === null) this.now();
  }

  /** Read at once, because a person chose something else. */
  async now() {
    if (this.isStopped) return;
    if (this.isReading) {
      this.isUrgent = true;
      return;
    }
    clearTimeout(this.timer);
    this.timer = null;
    this.isReading = true;
    this.isDue = false;
    const began = performance.now();
    try {
      await this.read(() => this.isStopped);
    } catch (error) {
      this.onError(error);
    }
    this.isReading = false;
    this.continue(Math.max(this.pauseMs, this.pausePerRead * (performance.now() - began)));
  }

  /** Read no more. */
  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  continue(pauseMs) {
    if (this.isStopped) return;
    if (this.isUrgent) {
      this.isUrgent = false;
      this.now();
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.isDue) this.now();
    }, pauseMs);
  }
}
