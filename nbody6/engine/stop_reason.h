/** Why an engine returns. */
#ifndef NB6_ENGINE_STOP_REASON_H
#define NB6_ENGINE_STOP_REASON_H

enum nb6_stop_reason {
    NB6_STOP_REACHED,    /**< the next block lies behind the time asked for */
    NB6_STOP_BLOCKS,     /**< as many blocks as were asked for */
    NB6_STOP_PAUSED,     /**< few-body systems have not reached the time of the block: the next call goes on */
    NB6_STOP_ENCOUNTER,  /**< the last block is committed, and a system may form, end or change */
    NB6_STOP_HOST,       /**< the next block is for the host engine, and was discarded */
    NB6_STOP_OVERFLOW,   /**< a list does not fit its row; the block is not committed. Export, import, go on */
    NB6_STOP_NON_FINITE, /**< a NaN or an infinity; the block is not committed, and the call has failed */
    NB6_STOP_DEVICE      /**< the device does not answer; the call has failed */
};

#endif
