!> The Fortran runtime reads one namelist assignment, so that values have their Fortran meaning.
!! Called from namelist_value.c only, which checks the text beforehand.
module nb6_namelist_read
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_size_t
    implicit none
    private
    public :: read_integers, read_reals, read_string

    integer, parameter :: max_elements = 64   ! NB6_NAMELIST_ELEMENTS of namelist_value.h
    integer, parameter :: max_string = 4096
    integer(c_int), parameter :: no_memory = -1000   ! NB6_NAMELIST_NO_MEMORY of namelist_value.c; no iostat

contains

    !> Read "&G V... /" into values(1:n), which keeps its elements where the text has none. Returns iostat, or no_memory.
    function read_integers(length, text, n, values) result(iostat) bind(c, name='nb6_namelist_read_integers')
        integer(c_size_t), value :: length
        character(kind=c_char), intent(in) :: text(length)
        integer(c_int), value :: n
        integer(c_int64_t), intent(inout) :: values(n)
        integer(c_int) :: iostat
        integer(c_int64_t) :: v(max_elements)
        character(len=:), allocatable :: record
        namelist /g/ v

        iostat = no_memory
        if (.not. is_record(text, record)) return
        v = 0
        v(1:n) = values
        read (record, nml=g, iostat=iostat)
        values = v(1:n)
        if (iostat /= 0) call forget()
    end function

    !> The same for real values.
    function read_reals(length, text, n, values) result(iostat) bind(c, name='nb6_namelist_read_reals')
        integer(c_size_t), value :: length
        character(kind=c_char), intent(in) :: text(length)
        integer(c_int), value :: n
        real(c_double), intent(inout) :: values(n)
        integer(c_int) :: iostat
        real(c_double) :: v(max_elements)
        character(len=:), allocatable :: record
        namelist /g/ v

        iostat = no_memory
        if (.not. is_record(text, record)) return
        v = 0
        v(1:n) = values
        read (record, nml=g, iostat=iostat)
        values = v(1:n)
        if (iostat /= 0) call forget()
    end function

    !> Read a string into s(1:n), padded with blanks.
    function read_string(length, text, n, s) result(iostat) bind(c, name='nb6_namelist_read_string')
        integer(c_size_t), value :: length
        character(kind=c_char), intent(in) :: text(length)
        integer(c_int), value :: n
        character(kind=c_char), intent(out) :: s(n)
        integer(c_int) :: iostat
        character(len=max_string) :: v
        character(len=:), allocatable :: record
        integer :: i
        namelist /g/ v

        iostat = no_memory
        s = ' '
        if (.not. is_record(text, record)) return
        v = ''
        read (record, nml=g, iostat=iostat)
        do i = 1, min(n, max_string)
            s(i) = v(i:i)
        end do
        if (iostat /= 0) call forget()
    end function

    !> After a record that ends too early libgfortran takes nothing from the next one, without an error: this is that one.
    subroutine forget()
        integer :: v, iostat
        character(len=9) :: record
        namelist /g/ v

        record = '&G V=1, /'
        read (record, nml=g, iostat=iostat)
    end subroutine

    !> The text as a record; false: no memory.
    logical function is_record(text, record)
        character(kind=c_char), intent(in) :: text(:)
        character(len=:), allocatable, intent(out) :: record
        integer :: i, failed

        allocate (character(len=size(text)) :: record, stat=failed)
        is_record = failed == 0
        if (.not. is_record) return
        do i = 1, size(text)
            record(i:i) = text(i)
        end do
    end function

end module
